export const statuses = ["pending", "accepted", "declined", "cancelled", "expired", "withdrawn"] as const;
export type Status = (typeof statuses)[number];
export type Decision = "accept" | "decline" | "cancel";
export type Outcome = "succeeded" | "failed" | "unknown";
export type WithdrawReason =
  | "client_declined"
  | "aborted"
  | "superseded"
  | "match_failed"
  | "frozen"
  | "key_revoked"
  | "taken_back";

export type Subject = { iss: string; sub: string };
export type Caller = { iss: string; sub: string; clientId?: string };

/** What is the same in every state. Nothing here is trusted for a decision: that rests on `record` and `receipt` (I17). */
export type ApprovalBase = {
  id: string;
  clientId: string;
  tool: string;
  argumentNames: string[];
  title: string | null;
  retainTitle: boolean;
  subject: Subject;
  caller: Caller;
  actionDigest: string;
  policyVersion: number;
  record: string | null;
  actionTag: Uint8Array | null;
  reuseTag: Uint8Array | null;
  matchTag: Uint8Array | null;
  matchTries: number;
  createdAt: Date;
  expiresAt: Date;
  actBySeconds: number;
  note: string | null;
  erasedAt: Date | null;
  /** Signing keys that were revoked when the row was read: what they signed proves nothing. */
  revokedKids: readonly string[];
  /** `traceparent` of the call that minted it; null while traces are off. */
  traceContext: string | null;
  seq: number;
  version: number;
};

export type Pending = ApprovalBase & { status: "pending" };
export type Unconsumed = { at: null };
export type Consumed = {
  at: Date;
  consumerHash: Uint8Array;
  outcome: { value: Outcome; at: Date; code: string | null; isDerived: boolean } | null;
};
/** `settledAt` is set when it lapsed or its outcome is known. */
export type Accepted = ApprovalBase & {
  status: "accepted";
  decidedAt: Date;
  actBy: Date;
  receipt: string;
  settledAt: Date | null;
  consumption: Unconsumed | Consumed;
};
export type Declined = ApprovalBase & {
  status: "declined";
  decidedAt: Date;
  reason: "not_requested" | null;
  receipt: string;
  settledAt: Date;
};
export type Cancelled = ApprovalBase & { status: "cancelled"; decidedAt: Date; receipt: string; settledAt: Date };
export type Expired = ApprovalBase & { status: "expired"; receipt: string; settledAt: Date };
/** `decidedAt` is set where it had been accepted before. */
export type Withdrawn = ApprovalBase & {
  status: "withdrawn";
  decidedAt: Date | null;
  reason: WithdrawReason;
  receipt: string;
  settledAt: Date;
};

/** An approval in one of its states (section 5): impossible ones do not type-check, and the database refuses them too. */
export type Approval = Pending | Accepted | Declined | Cancelled | Expired | Withdrawn;

/** What the caller may do next: the one field that tells an author (section 6). */
export type Next = "wait" | "run" | "stop" | "done";

/** Expiry and lapse are derived from the clock that was read with the row; correctness rests on no timer. */
export function statusAt(approval: Approval, now: Date): Status {
  return approval.status === "pending" && approval.expiresAt <= now ? "expired" : approval.status;
}

/** An accepted approval that nobody used within its act-by window (I12). */
export function isLapsed(approval: Approval, now: Date): boolean {
  return approval.status === "accepted" && approval.consumption.at === null && approval.actBy <= now;
}

export function nextFor(approval: Approval, now: Date): Next {
  const status = statusAt(approval, now);
  if (status === "pending") return "wait";
  if (approval.status !== "accepted") return "stop";
  if (approval.consumption.at !== null) return "done";
  return isLapsed(approval, now) ? "stop" : "run";
}
