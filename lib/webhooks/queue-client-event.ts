import type pg from "pg";
import type { Subject } from "../approvals/approval";

/**
 * Puts an event of a client into the outbox, in the caller's transaction with the change itself (I8). `subject` where it is about one
 * person's freeze.
 */
export async function queueClientEvent(
  db: Pick<pg.PoolClient, "query">,
  type: "client.frozen" | "client.unfrozen",
  of: { clientId: string; reason?: string; subject?: Subject; until?: Date },
): Promise<void> {
  const { clientId, reason, subject, until } = of;
  const data = {
    ...(reason === undefined ? {} : { reason }),
    ...(subject === undefined ? {} : { subject: { iss: subject.iss, sub: subject.sub } }),
    ...(until === undefined ? {} : { until: until.toISOString() }),
  };
  await db.query(
    `INSERT INTO "outbox" ("at", "type", "client_id", "data") VALUES (clock_timestamp(), $1, $2, $3::jsonb)`,
    [type, clientId, JSON.stringify(data)],
  );
}
