import type pg from "pg";
import type { Database } from "../database/prisma";
import type { AuditEventInput } from "./event";

const insertSql = `INSERT INTO "audit_event" ("at", "type", "approval_id", "approval_seq", "client_id", "tool", "actor", "decision", "reason", "metadata", "data")
  VALUES (clock_timestamp(), $1, $2, $3::int, $4, $5, $6::jsonb, $7, $8, $9::jsonb, $10::jsonb)`;

/**
 * Appends an event, in the caller's transaction where it passes one: of Prisma, or a connection of the pool. The instant is the
 * database's.
 */
export async function appendAudit(
  db: Pick<Database, "$executeRawUnsafe"> | Pick<pg.Pool, "query">,
  event: AuditEventInput,
): Promise<void> {
  const json = (value: unknown) => (value === undefined ? null : JSON.stringify(value));
  const values = [
    event.type,
    event.approvalId ?? null,
    event.approvalSeq ?? null,
    event.clientId ?? null,
    event.tool ?? null,
    json(event.actor),
    event.decision ?? null,
    event.reason ?? null,
    json(event.metadata),
    json(event.data),
  ];
  if ("query" in db) await db.query(insertSql, values);
  else await db.$executeRawUnsafe(insertSql, ...values);
}
