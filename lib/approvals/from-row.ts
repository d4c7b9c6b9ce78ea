import type { Accepted, Approval, ApprovalBase, Outcome, WithdrawReason } from "./approval";

/** A row of `approval` as `pg` reads it. */
export type ApprovalRow = {
  id: string;
  client_id: string;
  status: string;
  tool: string;
  argument_names: string[];
  title: string | null;
  retain_title: boolean;
  caller_iss: string;
  caller_sub: string;
  caller_client_id: string | null;
  subject_iss: string;
  subject_sub: string;
  action_digest: string;
  policy_version: number;
  record: string | null;
  action_tag: Buffer | null;
  reuse_tag: Buffer | null;
  match_tag: Buffer | null;
  match_tries: number;
  created_at: Date;
  expires_at: Date;
  act_by_seconds: number;
  reason: string | null;
  decided_at: Date | null;
  act_by: Date | null;
  note: string | null;
  receipt: string | null;
  settled_at: Date | null;
  consumed_at: Date | null;
  consumer_hash: Buffer | null;
  outcome: string | null;
  outcome_code: string | null;
  outcome_at: Date | null;
  outcome_derived: boolean;
  seq: number;
  version: number;
  erased_at: Date | null;
  trace_context: string | null;
  /** Read beside the row, where something is decided or granted from it. */
  revoked_kids?: string[];
};

/** The single parser of approval rows. Throws where a row is none of the states, which the database refuses to hold. */
export function approvalFromRow(row: ApprovalRow): Approval {
  const base = baseFromRow(row);
  switch (row.status) {
    case "pending":
      return { ...base, status: "pending" };
    case "accepted":
      return acceptedFromRow(base, row);
    case "declined":
      return {
        ...base,
        status: "declined",
        decidedAt: held(row, "decided_at"),
        reason: row.reason === "not_requested" ? "not_requested" : null,
        ...ended(row),
      };
    case "cancelled":
      return { ...base, status: "cancelled", decidedAt: held(row, "decided_at"), ...ended(row) };
    case "expired":
      return { ...base, status: "expired", ...ended(row) };
    case "withdrawn":
      return {
        ...base,
        status: "withdrawn",
        decidedAt: row.decided_at,
        reason: held(row, "reason") as WithdrawReason,
        ...ended(row),
      };
    default:
      throw new Error(`approval ${row.id} has the unknown status ${row.status}`);
  }
}

function baseFromRow(row: ApprovalRow): ApprovalBase {
  return {
    id: row.id,
    clientId: row.client_id,
    tool: row.tool,
    argumentNames: row.argument_names,
    title: row.title,
    retainTitle: row.retain_title,
    subject: { iss: row.subject_iss, sub: row.subject_sub },
    caller: {
      iss: row.caller_iss,
      sub: row.caller_sub,
      ...(row.caller_client_id === null ? {} : { clientId: row.caller_client_id }),
    },
    actionDigest: row.action_digest,
    policyVersion: row.policy_version,
    record: row.record,
    actionTag: row.action_tag,
    reuseTag: row.reuse_tag,
    matchTag: row.match_tag,
    matchTries: row.match_tries,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    actBySeconds: row.act_by_seconds,
    note: row.note,
    erasedAt: row.erased_at,
    revokedKids: row.revoked_kids ?? [],
    traceContext: row.trace_context,
    seq: row.seq,
    version: row.version,
  };
}

function acceptedFromRow(base: ApprovalBase, row: ApprovalRow): Accepted {
  const shared = {
    ...base,
    status: "accepted" as const,
    decidedAt: held(row, "decided_at"),
    actBy: held(row, "act_by"),
    receipt: held(row, "receipt"),
    settledAt: row.settled_at,
  };
  if (row.consumed_at === null) return { ...shared, consumption: { at: null } };
  const outcome =
    row.outcome === null
      ? null
      : {
          value: row.outcome as Outcome,
          at: held(row, "outcome_at"),
          code: row.outcome_code,
          isDerived: row.outcome_derived,
        };
  return { ...shared, consumption: { at: row.consumed_at, consumerHash: held(row, "consumer_hash"), outcome } };
}

const ended = (row: ApprovalRow) => ({ receipt: held(row, "receipt"), settledAt: held(row, "settled_at") });

function held<K extends keyof ApprovalRow>(row: ApprovalRow, column: K): NonNullable<ApprovalRow[K]> {
  const value = row[column];
  if (value === null || value === undefined) throw new Error(`approval ${row.id} (${row.status}) has no ${column}`);
  return value;
}
