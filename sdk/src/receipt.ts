import { type CryptoKey, compactVerify, decodeProtectedHeader } from "jose";
import {
  type EvidenceFault,
  type EvidenceRefusal,
  type VerifiedPasskey,
  verifyPasskeyEvidence,
} from "./passkey-evidence";
import type { PinnedCredential } from "./pinned-credential";
import { type ReceiptClaims, receiptClaimsSchema } from "./receipt-claims";

export type { ReceiptClaims };

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
  /** Refuses an accept without passkey evidence. Evidence that is there is verified either way. */
  passkey?: "required";
  /** The passkeys that are known to be people's; evidence by any other is refused. Without it the service vouches whose one is. */
  credentials?: readonly PinnedCredential[];
  /**
   * Refuses evidence by a passkey that `credentials` has for the linked identity that decided, not for the subject. Without it either
   * counts; that the two are linked is the service's word, so whoever has its key can let anyone in the list decide for anyone.
   */
  pinned?: "subject";
  /** Origin that the approval page must have been on, where there is passkey evidence. */
  origin?: string;
};

/** Why a receipt does not count. The first seven are about the token, the rest about what it says and the evidence in it. */
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
  | "wrong_decision"
  | EvidenceRefusal;

export type ReceiptVerdict =
  /** `passkey` is there where a passkey signed the decision; then that was verified. */
  | { ok: true; kid: string; claims: ReceiptClaims; passkey: VerifiedPasskey | undefined }
  /** `fault` says more of `bad_evidence`. */
  | { ok: false; reason: ReceiptRefusal; kid?: string; fault?: EvidenceFault };

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
  const read = readClaims(payload);
  if (!read.ok) return { ...read, kid };
  const { claims } = read;
  const mismatch = findMismatch(claims, expected);
  if (mismatch !== undefined) return { ok: false, reason: mismatch, kid };
  const evidence = verifyPasskeyEvidence(claims, expected);
  return evidence.ok ? { ok: true, kid, claims, passkey: evidence.passkey } : { ...evidence, kid };
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

type ClaimsRead =
  | { ok: true; claims: ReceiptClaims }
  | { ok: false; reason: "bad_claims" }
  | { ok: false; reason: "bad_evidence"; fault: EvidenceFault };

function readClaims(payload: Uint8Array): ClaimsRead {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(payload));
    const { data: claims, error } = receiptClaimsSchema.safeParse(parsed);
    if (claims !== undefined) return { ok: true, claims };
    const isEvidenceAlone = error.issues.every(({ path }) => path[0] === "passkey");
    if (isEvidenceAlone) return { ok: false, reason: "bad_evidence", fault: "malformed" };
  } catch {
    // Not JSON, or not UTF-8.
  }
  return { ok: false, reason: "bad_claims" };
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
