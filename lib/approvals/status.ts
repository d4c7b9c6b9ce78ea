import { kidOf } from "../keys/kid-of";
import { Problem } from "../problem";
import type { Service } from "../process";
import { checkStoredReceipt } from "../receipts/check";
import { recordRefusal } from "../receipts/record-refusal";
import { rfc3339 } from "../receipts/sign";
import type { RecordClaims } from "../records/claims";
import { verifyRecord } from "../records/verify";
import type { Approval, Caller, Decision, Next, Outcome, Status, Subject } from "./approval";
import { nextFor, statusAt } from "./approval";
import type { Clocked } from "./store";

/** The answer of `GET /api/v1/approvals/{id}`. */
export type StatusAnswer = {
  id: string;
  status: Status;
  next: Next;
  createdAt: string;
  expiresAt: string;
  actionDigest: string;
  /** With the digest it tells what the approval is for. Absent once it was erased, like the requirements. */
  salt?: string;
  effectiveRequirements?: RecordClaims["requirements"];
  decision?: Decision;
  reason?: string;
  decidedAt?: string;
  note?: string;
  actBy?: string;
  consumed?: boolean;
  consumedAt?: string;
  outcome?: Outcome;
  outcomeCode?: string;
  subject: Subject;
  caller: Caller;
  receipt?: string;
};

/**
 * What a client may know of its approval now. The stored receipt is verified before anything but `pending` is said.
 * Errors: `integrity_failed` where the row was changed without the secret (I17), and, with a detail that says so, where a key signed it
 * that was revoked since.
 */
export async function statusAnswer(service: Service, { approval, now }: Clocked<Approval>): Promise<StatusAnswer> {
  const isRefused =
    approval.status !== "pending" &&
    (!(await checkStoredReceipt(service, approval)) || isAcceptedByRevokedKey(service, approval));
  if (isRefused) await recordRefusal(service, approval)(new Problem("integrity_failed"));
  const record = await verifyRecord(service, approval);
  return {
    id: approval.id,
    status: statusAt(approval, now),
    next: nextFor(approval, now),
    createdAt: rfc3339(approval.createdAt),
    expiresAt: rfc3339(approval.expiresAt),
    actionDigest: approval.actionDigest,
    ...(record === undefined ? {} : { salt: record.salt, effectiveRequirements: record.requirements }),
    ...decided(approval),
    ...consumed(approval),
    subject: approval.subject,
    caller: approval.caller,
    ...(approval.status === "pending" ? {} : { receipt: approval.receipt }),
  };
}

/**
 * Whether an acceptance rests on a record that names a revoked key: who has that key can have made the request that was accepted. Other ends
 * let nothing run, so there the receipt is enough.
 */
function isAcceptedByRevokedKey({ keys }: Service, { status, record, revokedKids }: Approval): boolean {
  const kid = status === "accepted" && record !== null ? kidOf(record) : undefined;
  return kid !== undefined && (revokedKids.includes(kid) || keys.findRevoked(kid) !== undefined);
}

function decided(approval: Approval): Partial<StatusAnswer> {
  const note = approval.note === null ? {} : { note: approval.note };
  switch (approval.status) {
    case "pending":
    case "expired":
      return {};
    case "accepted":
      return { decision: "accept", decidedAt: rfc3339(approval.decidedAt), actBy: rfc3339(approval.actBy), ...note };
    case "declined":
      return {
        decision: "decline",
        decidedAt: rfc3339(approval.decidedAt),
        ...(approval.reason ? { reason: approval.reason } : {}),
        ...note,
      };
    case "cancelled":
      return { decision: "cancel", decidedAt: rfc3339(approval.decidedAt), ...note };
    case "withdrawn":
      return { reason: approval.reason };
    default:
      return approval satisfies never;
  }
}

function consumed(approval: Approval): Partial<StatusAnswer> {
  if (approval.status !== "accepted") return {};
  if (approval.consumption.at === null) return { consumed: false };
  const { at, outcome } = approval.consumption;
  return {
    consumed: true,
    consumedAt: rfc3339(at),
    ...(outcome ? { outcome: outcome.value, ...(outcome.code === null ? {} : { outcomeCode: outcome.code }) } : {}),
  };
}
