import type pg from "pg";

/**
 * Makes a delivery of each new event for each endpoint of its client that wants it, at most `batchMax` events a call; returns how many
 * of which type. Any number of workers may do so at once: each event is handed out once, and what commits late is not passed over, for the queue
 * is the rows that are not handed out yet, not those after some id.
 */
export async function dispatchEvents(pool: Pick<pg.Pool, "query">, batchMax = 1_000): Promise<DispatchedEvents[]> {
  const { rows } = await pool.query<DispatchedEvents>({
    name: "webhook-dispatch",
    text: dispatchSql,
    values: [batchMax],
  });
  return rows;
}

export type DispatchedEvents = { type: string; count: number };

// Exported for the plan that the tests look at.
export const dispatchSql = `
WITH claimed AS MATERIALIZED (
  SELECT "id", "type", "client_id", "at" FROM "outbox" WHERE "dispatched_at" IS NULL ORDER BY "id" LIMIT $1 FOR UPDATE SKIP LOCKED),
made AS (
  INSERT INTO "webhook_delivery" ("endpoint_id", "outbox_id", "next_at", "created_at")
  SELECT e."id", o."id", clock_timestamp(), clock_timestamp() FROM claimed o JOIN "webhook_endpoint" e ON e."client_id" = o."client_id"
    AND e."disabled_at" IS NULL AND e."created_at" <= o."at" AND (cardinality(e."events") = 0 OR o."type" = ANY(e."events"))
  ON CONFLICT DO NOTHING),
done AS (
  UPDATE "outbox" o SET "dispatched_at" = clock_timestamp() FROM claimed c WHERE o."id" = c."id")
SELECT "type", count(*)::int AS "count" FROM claimed GROUP BY "type"`;
