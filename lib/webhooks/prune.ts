import type pg from "pg";

/**
 * Deletes events with their deliveries and attempts once nobody needs them: a week after they happened, and dead letters a month after they
 * died. What still waits stays. Returns how many events; at most `batchMax` a call.
 */
export async function pruneEvents(pool: Pick<pg.Pool, "query">): Promise<number> {
  const { rowCount } = await pool.query(pruneSql, [batchMax]);
  return rowCount ?? 0;
}

const batchMax = 5_000;

const pruneSql = `
DELETE FROM "outbox" WHERE "id" IN (
  SELECT o."id" FROM "outbox" o WHERE o."at" < clock_timestamp() - INTERVAL '7 days' AND o."dispatched_at" IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM "webhook_delivery" d WHERE d."outbox_id" = o."id"
      AND (d."status" = 'pending' OR d."ended_at" > clock_timestamp() - CASE d."status" WHEN 'dead' THEN INTERVAL '30 days' ELSE INTERVAL '7 days' END))
  ORDER BY o."at" LIMIT $1)`;
