import { randomUUID } from "node:crypto";
import type pg from "pg";
import { withdrawLive } from "../approvals/freeze-person";
import { stopWriters } from "../approvals/stop-writers";
import { appendAudit } from "../audit/append";
import type { AuditActor } from "../audit/event";
import { transact } from "../database/transact";
import { Problem } from "../problem";
import type { Service } from "../process";
import { queueClientEvent } from "../webhooks/queue-client-event";

/**
 * Freezes a client for everybody until it is unfrozen: refuses new ones from the first commit on, then withdraws all it has pending or
 * accepted and unconsumed. Should it fail in between, the freeze stands; again on a frozen client it withdraws what is live and changes
 * nothing else. Returns the ids that were withdrawn.
 * Errors: `not_found`; `unavailable` where approvals stay locked for more than five seconds.
 */
export async function freezeClient(
  service: Service,
  clientId: string,
  actor: AuditActor,
): Promise<{ clientId: string; changed: boolean; withdrawn: string[] }> {
  const changed = await putUp(service.pool, clientId, actor);
  // Apart, so that the table is locked for a moment only: withdrawing signs a receipt for each, and other clients go on meanwhile.
  const withdrawn = await transact(service.pool, (db) => withdrawLive(service, db, clientId));
  for (const id of withdrawn) service.hub.announce(id);
  return { clientId, changed, withdrawn };
}

/** The freeze itself; after its commit every mint that has not seen it is over. False where the client was frozen before. */
async function putUp(pool: pg.Pool, clientId: string, actor: AuditActor): Promise<boolean> {
  return transact(pool, async (db) => {
    await requireClient(db, clientId);
    await stopWriters(db);
    const { rowCount } = await db.query(
      `INSERT INTO "freeze" ("id", "client_id", "reason") SELECT $1, $2, 'admin' WHERE NOT EXISTS (SELECT 1 FROM "freeze"
         WHERE "client_id" = $2 AND "subject_sub" IS NULL AND "lifted_at" IS NULL AND ("until" IS NULL OR "until" > clock_timestamp()))`,
      [`frz_${randomUUID()}`, clientId],
    );
    const changed = rowCount === 1;
    if (changed) {
      await appendAudit(db, { type: "admin.client_frozen", clientId, actor, reason: "admin" });
      await queueClientEvent(db, "client.frozen", { clientId, reason: "admin" });
    }
    return changed;
  });
}

/**
 * Lifts the freeze for everybody; those that people have put up for themselves stay. What was withdrawn stays withdrawn. `changed` is
 * false where there was none. Errors: `not_found`.
 */
export async function unfreezeClient(
  service: Service,
  clientId: string,
  actor: AuditActor,
): Promise<{ clientId: string; changed: boolean }> {
  return transact(service.pool, async (db) => {
    await requireClient(db, clientId);
    const { rowCount } = await db.query(
      `UPDATE "freeze" SET "lifted_at" = clock_timestamp() WHERE "client_id" = $1 AND "subject_sub" IS NULL AND "lifted_at" IS NULL`,
      [clientId],
    );
    const changed = (rowCount ?? 0) > 0;
    if (changed) {
      await appendAudit(db, { type: "admin.client_unfrozen", clientId, actor });
      await queueClientEvent(db, "client.unfrozen", { clientId, reason: "admin" });
    }
    return { clientId, changed };
  });
}

async function requireClient(db: pg.PoolClient, clientId: string): Promise<void> {
  // Locked, so that of two freezes at once the second sees the first.
  const { rowCount } = await db.query(`SELECT 1 FROM "client" WHERE "id" = $1 FOR NO KEY UPDATE`, [clientId]);
  if (rowCount === 0) throw new Problem("not_found", { detail: "There is no such client." });
}
