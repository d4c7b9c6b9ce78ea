import type { Database } from "../database/prisma";
import type { AuditEventInput } from "./event";

/** Appends an event, in the caller's transaction where it passes one. The instant is the database's. */
export async function appendAudit(db: Pick<Database, "$executeRaw">, event: AuditEventInput): Promise<void> {
  const json = (value: unknown) => (value === undefined ? null : JSON.stringify(value));
  await db.$executeRaw`INSERT INTO "audit_event" ("at", "type", "approval_id", "approval_seq", "client_id", "tool", "actor", "decision", "reason", "metadata", "data")
    VALUES (clock_timestamp(), ${event.type}, ${event.approvalId ?? null}, ${event.approvalSeq ?? null}, ${event.clientId ?? null}, ${event.tool ?? null},
      ${json(event.actor)}::jsonb, ${event.decision ?? null}, ${event.reason ?? null}, ${json(event.metadata)}::jsonb, ${json(event.data)}::jsonb)`;
}
