import type pg from "pg";
import { transact } from "../database/transact";
import { appendAudit } from "./append";
import type { AuditEventInput } from "./event";

/**
 * Appends an observation, unless the same one (type, approval, actor and data) stands from the last hour already: what a reader or a
 * stranger can cause by reloading must not fill the history. Two at the same moment make one. True where it was appended.
 */
export async function appendHourly(pool: pg.Pool, event: AuditEventInput): Promise<boolean> {
  const sameness = [
    event.type,
    event.approvalId ?? null,
    JSON.stringify(event.actor),
    JSON.stringify(event.data ?? null),
  ];
  return transact(pool, async (db) => {
    await db.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [sameness.join("\n")]);
    const { rowCount } = await db.query(
      `SELECT 1 FROM "audit_event" WHERE "type" = $1 AND "approval_id" IS NOT DISTINCT FROM $2 AND "actor" = $3::jsonb
         AND coalesce("data", 'null'::jsonb) = $4::jsonb AND "at" > clock_timestamp() - INTERVAL '1 hour' LIMIT 1`,
      sameness,
    );
    if (!rowCount) await appendAudit(db, event);
    return !rowCount;
  });
}
