import { randomUUID } from "node:crypto";
import type { PasskeyClaim } from "@countersign/mcp/passkey-claim";
import { RECEIPT_TYP, type ReceiptClaims } from "@countersign/mcp/receipt";
import type { Approval } from "../approvals/approval";
import { signClaims } from "../keys/sign-claims";
import type { Service } from "../process";

/** What a person's decision adds to a receipt: who decided, by what right, on which view, how freshly signed in. */
export type DecisionEvidence = {
  authn: { iss: string; sub: string; via: "self" | "admin_link" };
  viewDigest: string;
  locale: string;
  shownAt: Date;
  authTime: number;
  amr: string[];
  /** The signature of a passkey over this very decision. */
  passkey?: PasskeyClaim;
};

/**
 * Signs the receipt of the end (or acceptance) that `approval` has reached. `decidedAt` is the instant of that change by the
 * database clock. No argument value and no guessable digest is in it (I9); it has no `exp` (section 7).
 */
export function signReceipt(
  service: Pick<Service, "keys" | "issuer">,
  approval: Exclude<Approval, { status: "pending" }>,
  decidedAt: Date,
  evidence?: DecisionEvidence,
): Promise<string> {
  const claims: ReceiptClaims = {
    iss: service.issuer,
    aud: approval.clientId,
    sub_id: { format: "iss_sub", ...approval.subject },
    jti: `rct_${randomUUID()}`,
    iat: Math.floor(Date.now() / 1000),
    approval_id: approval.id,
    asked_at: rfc3339(approval.createdAt),
    status: approval.status,
    ...endClaims(approval),
    action_digest: approval.actionDigest,
    decided_at: rfc3339(decidedAt),
    tool: approval.tool,
    caller: approval.caller,
    policy_version: approval.policyVersion,
    ...(evidence ? evidenceClaims(evidence) : {}),
  };
  return signClaims(service.keys, RECEIPT_TYP, claims);
}

/** RFC 3339 in UTC, whole seconds: the form of every signed instant (section 2). */
export function rfc3339(at: Date): string {
  return `${at.toISOString().slice(0, 19)}Z`;
}

/** What a receipt says of how an approval ended. */
export function endClaims(
  approval: Exclude<Approval, { status: "pending" }>,
): Pick<ReceiptClaims, "decision" | "reason" | "act_by"> {
  switch (approval.status) {
    case "accepted":
      return { decision: "accept", act_by: rfc3339(approval.actBy) };
    case "declined":
      return { decision: "decline", ...(approval.reason ? { reason: approval.reason } : {}) };
    case "cancelled":
      return { decision: "cancel" };
    case "withdrawn":
      return { reason: approval.reason };
    case "expired":
      return {};
    default:
      return approval satisfies never;
  }
}

function evidenceClaims(evidence: DecisionEvidence): Partial<ReceiptClaims> {
  return {
    authn: evidence.authn,
    view_digest: evidence.viewDigest,
    locale: evidence.locale,
    shown_at: rfc3339(evidence.shownAt),
    auth_time: evidence.authTime,
    amr: evidence.amr,
    ...(evidence.passkey ? { passkey: evidence.passkey } : {}),
  };
}
