import type pg from "pg";
import type { AuditActor } from "../audit/event";
import { kidOf } from "../keys/kid-of";
import { approvalData } from "../webhooks/approval-data";
import type { Approval, Subject } from "./approval";
import { type ApprovalRow, approvalFromRow } from "./from-row";
import type { ApprovalEvent } from "./transitions";

type Queryable = Pick<pg.Pool, "query">;

/** `now` is the database's clock; `isFrozen`: the client may run nothing for this person. */
export type Clocked<T> = { approval: T; now: Date; isFrozen: boolean };

/** The approval with the database's clock at the moment of reading, or undefined. Row columns are untrusted (I17). */
export async function readApproval(db: Queryable, id: string): Promise<Clocked<Approval> | undefined> {
  const { rows } = await db.query<ApprovalRow & { now: Date; is_frozen: boolean }>({
    name: "approval-read",
    text: readSql,
    values: [id],
  });
  const row = rows[0];
  return row && { approval: approvalFromRow(row), now: row.now, isFrozen: row.is_frozen };
}

/** Whether the client of approval `a` may run nothing for its subject at that instant. */
function isFrozenAt(instant: string): string {
  return `EXISTS (SELECT 1 FROM "freeze" f WHERE f."client_id" = a."client_id" AND f."lifted_at" IS NULL
    AND (f."until" IS NULL OR f."until" > ${instant})
    AND (f."subject_iss" IS NULL OR (f."subject_iss" = a."subject_iss" AND f."subject_sub" = a."subject_sub")))`;
}

/** SQL: the signing keys that are revoked now. A row says so before this process may have read the keys again. */
export const revokedKidsSql = `ARRAY(SELECT "kid" FROM "signing_key" WHERE "status" = 'revoked')`;

const readSql = `
SELECT a.*, c."now", ${isFrozenAt('c."now"')} AS "is_frozen", ${revokedKidsSql} AS "revoked_kids"
FROM "approval" a, (SELECT clock_timestamp() AS "now") c WHERE a."id" = $1`;

export type Change = {
  /** The state that the change was computed from; any write since then makes it fail. */
  from: Approval;
  to: Approval;
  /** Compared with the clock after the row lock is held. */
  validUntil?: Date | undefined;
  validFrom?: Date | undefined;
  event: ApprovalEvent | null;
  actor: AuditActor;
  /**
   * By what a person decides: the session, the identity that gives the right (the session's own, or the one that an admin has linked), and
   * the passkey. Each must still hold when the change is written.
   */
  person?: { sid: string; userId: string; right: Subject & { isLink: boolean }; credentialId?: string | undefined };
  /** Goes into the audit event: ids, codes and names only (I9). */
  data?: Record<string, string | number | boolean | null | string[]>;
};

/**
 * Writes a change with its audit event and its outbox row in one statement, so all or none (I8), if and only if the row is
 * still the version that the change was computed from and the clock, read after the row lock, is within the change's bounds
 * (I4, I5, I6, I12), a client's key is not revoked, no signing key is that the change rests on, and the session, user,
 * identity and passkey of a person who decides hold. False: somebody else was first, it is too late, or one of these is gone; read again.
 */
export async function commitChange(db: Queryable, change: Change): Promise<boolean> {
  const { from, event } = change;
  const { rowCount } = await db.query({
    name: "approval-change",
    text: changeSql,
    values: [
      from.id,
      from.version,
      change.validUntil ?? null,
      change.validFrom ?? null,
      event === null ? null : `approval.${event}`,
      JSON.stringify(change.actor),
      change.data === undefined ? null : JSON.stringify(change.data),
      ...columnsOf(change.to),
      change.actor.kind === "client" ? change.actor.keyId : null,
      kidsOf(change),
      change.person?.sid ?? null,
      change.person?.userId ?? null,
      change.person?.credentialId ?? null,
      change.person?.right.iss ?? null,
      change.person?.right.sub ?? null,
      change.person?.right.isLink ?? false,
      event === null ? null : JSON.stringify(approvalData(change.to)),
    ],
  });
  return rowCount === 1;
}

// The clock is read in a step of its own above the locked row. In the same SELECT, or in the UPDATE's own condition, it
// would be read before the wait for the lock and would let late answers in. Session, user, identity and passkey are locked after the row for the same
// reason: a lock looks at the newest version, a plain read at that of the statement's beginning. The user comes before the session, as
// everywhere.
const changeSql = `
WITH locked AS MATERIALIZED (SELECT "id", "version" FROM "approval" WHERE "id" = $1 FOR UPDATE),
clocked AS MATERIALIZED (SELECT "id", "version", clock_timestamp() AS "at" FROM locked),
present AS MATERIALIZED (
  SELECT 1 FROM clocked, "user" u, "session" s WHERE s."sid" = $25 AND s."user_id" = $26 AND u."id" = s."user_id"
    AND s."revoked_at" IS NULL AND u."disabled_at" IS NULL FOR SHARE OF u, s),
holding AS MATERIALIZED (
  SELECT 1 FROM clocked, "passkey" p WHERE p."credential_id" = $27 AND p."user_id" = $26 FOR KEY SHARE OF p),
entitled AS MATERIALIZED (
  SELECT 1 FROM clocked, "identity" i WHERE i."iss" = $28 AND i."sub" = $29 AND i."user_id" = $26
    AND (NOT $30::boolean OR (i."may_approve" AND i."linked_by" = 'admin')) FOR SHARE OF i),
changed AS (
  UPDATE "approval" a SET "status" = $8, "decision" = $9, "reason" = $10, "decided_at" = $11, "act_by" = $12, "note" = $13, "receipt" = $14,
    "settled_at" = $15, "consumed_at" = $16, "consumer_hash" = $17, "outcome" = $18, "outcome_code" = $19, "outcome_at" = $20, "outcome_derived" = $21,
    "match_tries" = $22, "version" = a."version" + 1, "seq" = a."seq" + CASE WHEN $5::text IS NULL THEN 0 ELSE 1 END
  FROM clocked c
  WHERE a."id" = c."id" AND a."version" = $2 AND c."version" = $2
    AND ($23::text IS NULL OR EXISTS (SELECT 1 FROM "api_key" k JOIN "client" l ON l."id" = k."client_id"
      WHERE k."key_id" = $23 AND k."revoked_at" IS NULL AND l."disabled_at" IS NULL AND l."id" = a."client_id"))
    AND (coalesce($5, '') NOT IN ('approval.accepted', 'approval.consumed') OR NOT ${isFrozenAt('c."at"')})
    AND NOT EXISTS (SELECT 1 FROM "signing_key" s WHERE s."kid" = ANY($24::text[]) AND s."status" = 'revoked')
    AND ($25::text IS NULL OR (EXISTS (SELECT 1 FROM present) AND EXISTS (SELECT 1 FROM entitled))) AND ($27::text IS NULL OR EXISTS (SELECT 1 FROM holding))
    AND ($3::timestamptz IS NULL OR c."at" < $3) AND ($4::timestamptz IS NULL OR c."at" >= $4)
  RETURNING a."id", a."seq", a."client_id", a."tool", a."decision", a."reason", a."trace_context", c."at"),
audited AS (
  INSERT INTO "audit_event" ("at", "type", "approval_id", "approval_seq", "client_id", "tool", "actor", "decision", "reason", "data")
  SELECT "at", $5, "id", "seq", "client_id", "tool", $6::jsonb, "decision", "reason", $7::jsonb FROM changed WHERE $5::text IS NOT NULL),
queued AS (
  INSERT INTO "outbox" ("at", "type", "client_id", "approval_id", "approval_seq", "data", "trace_context")
  SELECT "at", $5, "client_id", "id", "seq", $31::jsonb, "trace_context" FROM changed WHERE $5::text IS NOT NULL)
SELECT "id" FROM changed`;

/** The keys that a change rests on: of the record that it is made from, and of the receipt that it leaves or grants by. */
function kidsOf({ from, to, event }: Change): string[] {
  if (event === null || event === "lapsed" || event === "outcome") return [];
  const signed = [from.record, "receipt" in to ? to.receipt : null];
  return signed.map((jws) => (jws === null ? undefined : kidOf(jws))).filter((kid) => kid !== undefined);
}

function columnsOf(to: Approval): unknown[] {
  const decision = {
    accepted: "accept",
    declined: "decline",
    cancelled: "cancel",
    pending: null,
    expired: null,
    withdrawn: "decidedAt" in to && to.decidedAt ? "accept" : null,
  }[to.status];
  const consumed = to.status === "accepted" && to.consumption.at !== null ? to.consumption : undefined;
  return [
    to.status,
    decision,
    "reason" in to ? to.reason : null,
    "decidedAt" in to ? to.decidedAt : null,
    to.status === "accepted" ? to.actBy : null,
    to.note,
    "receipt" in to ? to.receipt : null,
    "settledAt" in to ? to.settledAt : null,
    consumed?.at ?? null,
    consumed?.consumerHash ?? null,
    consumed?.outcome?.value ?? null,
    consumed?.outcome?.code ?? null,
    consumed?.outcome?.at ?? null,
    consumed?.outcome?.isDerived ?? false,
    to.matchTries,
  ];
}
