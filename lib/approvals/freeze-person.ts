import { randomUUID } from "node:crypto";
import type pg from "pg";
import { appendAudit } from "../audit/append";
import type { AuditActor } from "../audit/event";
import type { Service } from "../process";
import { queueClientEvent } from "../webhooks/queue-client-event";
import type { Subject } from "./approval";
import { endBySystem } from "./end";
import { readApproval } from "./store";

/** How long a person's "I didn't ask for this" holds, unless it is lifted. */
const freezeSeconds = 24 * 3600;

/**
 * Freezes a client for one person: withdraws every pending and accepted, unconsumed approval between the two, and refuses new ones.
 * In the caller's transaction. Returns the ids that were withdrawn.
 */
export async function freezePerson(
  service: Service,
  db: pg.PoolClient,
  of: { clientId: string; subject: Subject },
  actor: AuditActor,
): Promise<string[]> {
  const { rows } = await db.query<{ until: Date }>(
    `INSERT INTO "freeze" ("id", "client_id", "subject_iss", "subject_sub", "reason", "until")
     VALUES ($1, $2, $3, $4, 'not_requested', clock_timestamp() + make_interval(secs => $5)) RETURNING "until"`,
    [`frz_${randomUUID()}`, of.clientId, of.subject.iss, of.subject.sub, freezeSeconds],
  );
  await appendAudit(db, {
    type: "admin.client_frozen",
    clientId: of.clientId,
    actor,
    reason: "not_requested",
    data: { subjectIss: of.subject.iss, subjectSub: of.subject.sub },
  });
  const until = rows[0]?.until;
  await queueClientEvent(db, "client.frozen", { ...of, reason: "not_requested", ...(until ? { until } : {}) });
  return withdrawLive(service, db, of.clientId, of.subject);
}

/** The lock that minting takes (`mint_window`): held, no mint of this client for this person falls between. Taken before any row. */
export async function lockPerson(db: pg.PoolClient, of: { clientId: string; subject: Subject }): Promise<void> {
  await db.query(`SELECT pg_advisory_xact_lock(hashtextextended($1 || E'\\n' || $2 || E'\\n' || $3, 0))`, [
    of.clientId,
    of.subject.iss,
    of.subject.sub,
  ]);
}

/** Withdraws as `frozen` what could still run or be decided, for one person or (without `subject`) for everybody. */
export async function withdrawLive(
  service: Service,
  db: pg.PoolClient,
  clientId: string,
  subject?: Subject,
): Promise<string[]> {
  // In one order everywhere, so that two freezes cannot wait for each other; locked, so that no consume slips between read and write.
  const { rows } = await db.query<{ id: string }>(
    `SELECT "id" FROM "approval" WHERE "client_id" = $1 AND ($2::text IS NULL OR ("subject_iss" = $2 AND "subject_sub" = $3))
       AND ("status" = 'pending' OR ("status" = 'accepted' AND "consumed_at" IS NULL AND "settled_at" IS NULL)) ORDER BY "id" FOR UPDATE`,
    [clientId, subject?.iss ?? null, subject?.sub ?? null],
  );
  const withdrawn: string[] = [];
  for (const { id } of rows) {
    const read = await readApproval(db, id);
    if (read && (await endBySystem(service, db, read, { kind: "withdraw", reason: "frozen" }))) withdrawn.push(id);
  }
  return withdrawn;
}
