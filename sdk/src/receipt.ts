import { type CryptoKey, compactVerify, decodeProtectedHeader } from "jose";
import { z } from "zod";

/** The JWS `typ` of a receipt; explicit typing (RFC 8725 section 3.11) keeps it apart from every other signed thing. */
export const RECEIPT_TYP = "approval-receipt+jwt";
/** The one signature algorithm (RFC 9864): no verifier here accepts another. */
export const RECEIPT_ALG = "Ed25519";

const MAX_RECEIPT_LENGTH = 65_536;

/** Finds the public key for a `kid`; `undefined` for one that the issuer does not publish. May throw when it cannot know. */
export type KeyLookup = (kid: string) => CryptoKey | undefined | Promise<CryptoKey | undefined>;

/** What a receipt must say. `issuer` and `audience` are always pinned; every other member is checked when it is given. */
export type ReceiptExpectation = {
  /** `iss`, compared as an exact string. */
  issuer: string;
  /** `aud`: the `clientId` of the MCP server that asked. */
  audience: string;
  keys: KeyLookup;
  approvalId?: string;
  actionDigest?: string;
  tool?: string;
  subject?: { iss: string; sub: string };
  decision?: "accept" | "decline" | "cancel";
};

/** Why a receipt does not count. The first seven are about the token, the rest about what it says. */
export type ReceiptRefusal =
  | "malformed"
  | "wrong_alg"
  | "wrong_typ"
  | "critical_header"
  | "unknown_key"
  | "keys_unavailable"
  | "bad_signature"
  | "bad_claims"
  | "wrong_issuer"
  | "wrong_audience"
  | "wrong_approval"
  | "wrong_action"
  | "wrong_tool"
  | "wrong_subject"
  | "wrong_decision";

export type ReceiptVerdict =
  | { ok: true; kid: string; claims: ReceiptClaims }
  | { ok: false; reason: ReceiptRefusal; kid?: string };

/**
 * Tells whether a receipt is genuine and says what is expected. It is evidence of a decision; only `consume` grants a run.
 * Pins `alg` Ed25519, `typ`, `iss` and `aud`, takes keys only from the lookup and refuses any `crit` (RFC 8725).
 * Never throws: whatever is wrong is a verdict.
 */
export async function verifyReceipt(jws: string, expected: ReceiptExpectation): Promise<ReceiptVerdict> {
  const header = readHeader(jws);
  if (!header.ok) return header;
  const { kid } = header;
  let key: CryptoKey | undefined;
  try {
    key = await expected.keys(kid);
  } catch {
    return { ok: false, reason: "keys_unavailable", kid };
  }
  if (key === undefined) return { ok: false, reason: "unknown_key", kid };
  const payload = await verifiedPayload(jws, key);
  if (payload === undefined) return { ok: false, reason: "bad_signature", kid };
  const claims = readClaims(payload);
  if (claims === undefined) return { ok: false, reason: "bad_claims", kid };
  const mismatch = findMismatch(claims, expected);
  return mismatch === undefined ? { ok: true, kid, claims } : { ok: false, reason: mismatch, kid };
}

function readHeader(jws: string): { ok: true; kid: string } | { ok: false; reason: ReceiptRefusal } {
  if (typeof jws !== "string" || jws.length > MAX_RECEIPT_LENGTH) return { ok: false, reason: "malformed" };
  let header: ReturnType<typeof decodeProtectedHeader>;
  try {
    header = decodeProtectedHeader(jws);
  } catch {
    return { ok: false, reason: "malformed" };
  }
  if (header.alg !== RECEIPT_ALG) return { ok: false, reason: "wrong_alg" };
  if (header.typ !== RECEIPT_TYP) return { ok: false, reason: "wrong_typ" };
  if ("crit" in header) return { ok: false, reason: "critical_header" };
  if (typeof header.kid !== "string" || header.kid === "") return { ok: false, reason: "unknown_key" };
  return { ok: true, kid: header.kid };
}

async function verifiedPayload(jws: string, key: CryptoKey): Promise<Uint8Array | undefined> {
  try {
    return (await compactVerify(jws, key, { algorithms: [RECEIPT_ALG] })).payload;
  } catch {
    return undefined;
  }
}

function readClaims(payload: Uint8Array): ReceiptClaims | undefined {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(payload));
    return receiptClaimsSchema.safeParse(parsed).data;
  } catch {
    return undefined;
  }
}

function findMismatch(claims: ReceiptClaims, expected: ReceiptExpectation): ReceiptRefusal | undefined {
  if (claims.iss !== expected.issuer) return "wrong_issuer";
  if (claims.aud !== expected.audience) return "wrong_audience";
  if (differs(expected.approvalId, claims.approval_id)) return "wrong_approval";
  if (differs(expected.actionDigest, claims.action_digest)) return "wrong_action";
  if (differs(expected.tool, claims.tool)) return "wrong_tool";
  const { subject } = expected;
  if (subject && (subject.iss !== claims.sub_id.iss || subject.sub !== claims.sub_id.sub)) return "wrong_subject";
  if (differs(expected.decision, claims.decision)) return "wrong_decision";
  return undefined;
}

function differs(expected: string | undefined, claimed: string | undefined): boolean {
  return expected !== undefined && expected !== claimed;
}

const instant = z.iso.datetime({ precision: 0 });
const identity = z.object({ iss: z.string().min(1), sub: z.string().min(1) });

const STATUS_OF = { accept: "accepted", decline: "declined", cancel: "cancelled" } as const;

/**
 * The claims of a receipt. Instants named `…_at` and `act_by` are RFC 3339 in UTC with whole seconds; `iat` and `auth_time`
 * are NumericDate (RFC 7519). Unknown claims are kept, so that a newer service stays verifiable.
 * `decision`, `decided_at` and `authn` are there when a person decided, and a decision and its status always agree.
 */
export const receiptClaimsSchema = z
  .looseObject({
    iss: z.string().min(1),
    /** The `clientId` of the MCP server. */
    aud: z.string().min(1),
    /** Who must decide (RFC 9493, format `iss_sub`). */
    sub_id: z.looseObject({ format: z.literal("iss_sub"), ...identity.shape }),
    /** The identity that signed in and decided, and by what right: itself, or a link made by an admin. */
    authn: z.looseObject({ ...identity.shape, via: z.string() }).optional(),
    jti: z.string().min(1),
    iat: z.number().int(),
    approval_id: z.string().min(1),
    status: z.enum(["accepted", "declined", "cancelled", "expired", "withdrawn"]),
    decision: z.enum(["accept", "decline", "cancel"]).optional(),
    reason: z.string().optional(),
    action_digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
    view_digest: z.string().optional(),
    locale: z.string().optional(),
    shown_at: instant.optional(),
    decided_at: instant.optional(),
    tool: z.string().min(1),
    caller: z.looseObject({ ...identity.shape, clientId: z.string().optional() }),
    auth_time: z.number().int().optional(),
    amr: z.array(z.string()).optional(),
    act_by: instant.optional(),
    policy_version: z.number().int(),
    /** Passkey evidence (contract section 7), for those who verify it. */
    passkey: z.looseObject({}).optional(),
  })
  .refine((claims) => claims.decision === undefined || STATUS_OF[claims.decision] === claims.status, {
    message: "decision and status disagree",
  })
  .refine((claims) => claims.status !== "accepted" || claims.decision === "accept", {
    message: "accepted without a decision",
  })
  .refine(
    (claims) => claims.decision === undefined || (claims.authn !== undefined && claims.decided_at !== undefined),
    {
      message: "a decision without the person or the instant",
    },
  );

export type ReceiptClaims = z.infer<typeof receiptClaimsSchema>;
