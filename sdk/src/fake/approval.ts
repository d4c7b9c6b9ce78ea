import { createHash, randomBytes } from "node:crypto";
import canonicalize from "canonicalize";
import { CompactSign, exportJWK, generateKeyPair } from "jose";

export type Decision = "accept" | "decline" | "cancel";
export type Caller = { iss: string; sub: string; clientId?: string };
type Action = { tool: string; arguments: Record<string, unknown> };

export type FakeApproval = {
  id: string;
  status: "pending" | "accepted" | "declined" | "cancelled" | "expired" | "withdrawn";
  caller: Caller;
  action: Action;
  salt: string;
  actionDigest: string;
  shown: string;
  preconditions: string;
  title: string;
  decision?: Decision | undefined;
  reason?: string | undefined;
  note?: string | undefined;
  receipt?: string;
  lapsed: boolean;
  /** How many events there were of it after the first, that it was asked for. */
  laterEvents?: number;
  consumerToken?: string;
  outcome?: string;
  createdAt: string;
  consumedAt?: string;
  expiresAt: string;
};

export const STATUS_OF = { accept: "accepted", decline: "declined", cancel: "cancelled" } as const;
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

export function newApprovalId(): string {
  return `apr_${[...randomBytes(26)].map((byte) => ALPHABET[byte % 32]).join("")}`;
}

/** RFC 3339 in UTC with whole seconds. */
export function instant(afterSeconds = 0): string {
  return new Date(Date.now() + afterSeconds * 1000).toISOString().replace(/\.\d+Z$/, "Z");
}

/** Computed here on its own, from the contract's words, so that the kit's digest is compared with another one. */
export function digestOf(action: Action, salt: string): string {
  const text = canonicalize({ tool: action.tool, arguments: action.arguments, salt }) ?? "";
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

export type Signer = Awaited<ReturnType<typeof createSigner>>;

/** A signing key with what makes a receipt of it; `header` and `claims` can be overridden to forge. */
export async function createSigner(kid: string) {
  const { publicKey, privateKey } = await generateKeyPair("Ed25519", { extractable: true });
  const publicJwk = { ...(await exportJWK(publicKey)), kid, use: "sig", alg: "Ed25519" };
  return {
    kid,
    publicKey,
    privateKey,
    publicJwk,
    async sign(claims: Record<string, unknown>, header: Record<string, unknown> = {}): Promise<string> {
      return await new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
        .setProtectedHeader({ alg: "Ed25519", typ: "approval-receipt+jwt", kid, ...header })
        .sign(privateKey);
    },
  };
}

/** The claims of a receipt for an approval as it stands. */
export function receiptClaims(approval: FakeApproval, iss: string, aud: string): Record<string, unknown> {
  const { caller, decision, reason, status } = approval;
  const person = { iss: caller.iss, sub: caller.sub };
  return {
    iss,
    aud,
    sub_id: { format: "iss_sub", ...person },
    jti: randomBytes(16).toString("hex"),
    iat: Math.floor(Date.now() / 1000),
    approval_id: approval.id,
    status,
    action_digest: approval.actionDigest,
    tool: approval.action.tool,
    caller,
    policy_version: 1,
    ...(reason === undefined ? {} : { reason }),
    ...(decision === undefined
      ? {}
      : { decision, decided_at: instant(), authn: { ...person, via: "self" }, auth_time: 1, amr: ["pwd"] }),
    ...(status === "accepted" ? { act_by: instant(300) } : {}),
  };
}

export function countEvent(approval: FakeApproval): void {
  approval.laterEvents = (approval.laterEvents ?? 0) + 1;
}

export function nextOf(approval: FakeApproval): "wait" | "run" | "stop" | "done" {
  if (approval.status === "pending") return "wait";
  if (approval.status !== "accepted") return "stop";
  if (approval.consumerToken !== undefined) return "done";
  return approval.lapsed ? "stop" : "run";
}
