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
  const { actor, data } = whence(event);
  const json = (value: unknown) => (value === undefined ? null : JSON.stringify(value));
  const values = [
    event.type,
    event.approvalId ?? null,
    event.approvalSeq ?? null,
    event.clientId ?? null,
    event.tool ?? null,
    json(actor),
    event.decision ?? null,
    event.reason ?? null,
    json(event.metadata),
    json(data),
  ];
  if ("query" in db) await db.query(insertSql, values);
  else await db.$executeRawUnsafe(insertSql, ...values);
}

/** Takes where an admin acted from out of the actor, so that each act on a page says it without its verb having to. */
function whence({ actor, data }: AuditEventInput): Pick<AuditEventInput, "actor" | "data"> {
  if (actor.kind !== "admin" || actor.from === undefined) return { actor, ...(data ? { data } : {}) };
  const { from, ...who } = actor;
  const { address, userAgent } = from;
  return { actor: who, data: { ...data, ...(address ? { address } : {}), ...(userAgent ? { userAgent } : {}) } };
}
