import type { Accepted, Approval, Consumed, Decision, Outcome, Pending, WithdrawReason } from "./approval";

/** A receipt is signed for the state that a transition leads to; until then its place is empty. */
const unsigned = "";

export type Command =
  | { kind: "decide"; decision: Decision; reason?: "not_requested"; note?: string }
  | { kind: "wrong_code" }
  | { kind: "withdraw"; reason: WithdrawReason }
  | { kind: "expire" }
  | { kind: "lapse" }
  | { kind: "consume"; consumerHash: Uint8Array }
  | { kind: "report"; outcome: Outcome; code?: string }
  | { kind: "derive_unknown" };

export type ApprovalEvent =
  | "accepted"
  | "declined"
  | "cancelled"
  | "expired"
  | "withdrawn"
  | "lapsed"
  | "consumed"
  | "outcome";

export type Refusal =
  | "already_decided"
  | "expired"
  | "not_accepted"
  | "already_consumed"
  | "lapsed"
  | "not_consumed"
  | "outcome_already_reported"
  | "not_due";

/**
 * `validUntil` and `validFrom` bound the instant at which the change may be committed: the store compares them with the
 * database clock after it holds the row lock (I6, I12), so a change that waited too long is not made.
 */
export type Transition =
  | { ok: true; next: Approval; event: ApprovalEvent | null; validUntil?: Date; validFrom?: Date }
  | { ok: false; reason: Refusal };

const matchTriesMax = 3;
/** Without a report for this long after consume, the outcome is `unknown` (section 5). */
export const outcomeWindowSeconds = 900;
export const replayGraceSeconds = 30;

/** Pure and total: what `command` makes of `approval` at `now`, or why it makes nothing. */
export function transition(approval: Approval, command: Command, now: Date): Transition {
  switch (command.kind) {
    case "decide":
      return decide(approval, command, now);
    case "wrong_code":
      return countWrongCode(approval, now);
    case "withdraw":
      return withdraw(approval, command.reason, now);
    case "expire":
      return expire(approval, now);
    case "lapse":
      return lapse(approval, now);
    case "consume":
      return consume(approval, command.consumerHash, now);
    case "report":
      return report(approval, command, now);
    case "derive_unknown":
      return deriveUnknown(approval, now);
    default:
      return command satisfies never;
  }
}

const refuse = (reason: Refusal): Transition => ({ ok: false, reason });

/** Signed instants are whole seconds (section 2): cut, never rounded up past a deadline. */
function wholeSecond(at: Date): Date {
  return new Date(Math.floor(at.getTime() / 1000) * 1000);
}

function decide(approval: Approval, command: Extract<Command, { kind: "decide" }>, now: Date): Transition {
  if (approval.status !== "pending") return refuse(approval.status === "expired" ? "expired" : "already_decided");
  if (approval.expiresAt <= now) return refuse("expired");
  const base = { ...approval, note: command.note ?? null, decidedAt: wholeSecond(now), receipt: unsigned };
  const within = { ok: true, validUntil: approval.expiresAt } as const;
  if (command.decision === "accept") {
    const actBy = new Date(base.decidedAt.getTime() + approval.actBySeconds * 1000);
    return {
      ...within,
      event: "accepted",
      next: { ...base, status: "accepted", actBy, settledAt: null, consumption: { at: null } },
    };
  }
  const settled = { ...base, settledAt: now };
  if (command.decision === "cancel")
    return { ...within, event: "cancelled", next: { ...settled, status: "cancelled" } };
  return { ...within, event: "declined", next: { ...settled, status: "declined", reason: command.reason ?? null } };
}

function countWrongCode(approval: Approval, now: Date): Transition {
  if (approval.status !== "pending") return refuse("already_decided");
  if (approval.expiresAt <= now) return refuse("expired");
  const counted: Pending = { ...approval, matchTries: approval.matchTries + 1 };
  if (counted.matchTries >= matchTriesMax) return withdraw(counted, "match_failed", now);
  return { ok: true, next: counted, event: null, validUntil: approval.expiresAt };
}

function withdraw(approval: Approval, reason: WithdrawReason, now: Date): Transition {
  const isOpen = approval.status === "pending" || approval.status === "accepted";
  if (!isOpen) return refuse(approval.status === "expired" ? "expired" : "already_decided");
  if (approval.status === "pending" && approval.expiresAt <= now) return refuse("expired");
  if (approval.status === "accepted" && approval.consumption.at !== null) return refuse("already_consumed");
  if (approval.status === "accepted" && approval.actBy <= now) return refuse("lapsed");
  const decidedAt = approval.status === "accepted" ? approval.decidedAt : null;
  const validUntil = approval.status === "accepted" ? approval.actBy : approval.expiresAt;
  return {
    ok: true,
    event: "withdrawn",
    validUntil,
    next: { ...approval, status: "withdrawn", decidedAt, reason, receipt: unsigned, settledAt: now },
  };
}

function expire(approval: Approval, now: Date): Transition {
  if (approval.status !== "pending") return refuse("already_decided");
  if (approval.expiresAt > now) return refuse("not_due");
  return {
    ok: true,
    event: "expired",
    validFrom: approval.expiresAt,
    next: { ...approval, status: "expired", receipt: unsigned, settledAt: now },
  };
}

function lapse(approval: Approval, now: Date): Transition {
  if (approval.status !== "accepted") return refuse("not_accepted");
  if (approval.consumption.at !== null) return refuse("already_consumed");
  if (approval.settledAt !== null || approval.actBy > now) return refuse("not_due");
  return { ok: true, event: "lapsed", validFrom: approval.actBy, next: { ...approval, settledAt: now } };
}

function consume(approval: Approval, consumerHash: Uint8Array, now: Date): Transition {
  if (approval.status !== "accepted") return refuse("not_accepted");
  if (approval.consumption.at !== null) return refuse("already_consumed");
  if (approval.actBy <= now) return refuse("lapsed");
  const consumption: Consumed = { at: now, consumerHash, outcome: null };
  return { ok: true, event: "consumed", validUntil: approval.actBy, next: { ...approval, consumption } };
}

function report(approval: Approval, command: Extract<Command, { kind: "report" }>, now: Date): Transition {
  if (approval.status !== "accepted" || approval.consumption.at === null) return refuse("not_consumed");
  const known = approval.consumption.outcome;
  if (known && !(known.isDerived && command.outcome !== "unknown")) return refuse("outcome_already_reported");
  return settle(
    approval,
    approval.consumption,
    { value: command.outcome, at: now, code: command.code ?? null, isDerived: false },
    now,
  );
}

function deriveUnknown(approval: Approval, now: Date): Transition {
  if (approval.status !== "accepted" || approval.consumption.at === null) return refuse("not_consumed");
  if (approval.consumption.outcome) return refuse("outcome_already_reported");
  const due = new Date(approval.consumption.at.getTime() + outcomeWindowSeconds * 1000);
  if (due > now) return refuse("not_due");
  return settle(approval, approval.consumption, { value: "unknown", at: now, code: null, isDerived: true }, now);
}

function settle(
  approval: Accepted,
  consumption: Consumed,
  outcome: NonNullable<Consumed["outcome"]>,
  now: Date,
): Transition {
  return {
    ok: true,
    event: "outcome",
    next: { ...approval, settledAt: approval.settledAt ?? now, consumption: { ...consumption, outcome } },
  };
}
