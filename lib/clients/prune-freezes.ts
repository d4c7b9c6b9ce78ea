import type pg from "pg";

/**
 * Deletes the rows of freezes that have been over for 30 days, lifted or run out; that they were is in the history. Alerts look back a day.
 * Returns how many.
 */
export async function pruneFreezes(pool: Pick<pg.Pool, "query">): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM "freeze" WHERE "id" IN (
       SELECT "id" FROM "freeze" WHERE least("lifted_at", "until") < clock_timestamp() - INTERVAL '30 days' FOR UPDATE SKIP LOCKED)`,
  );
  return rowCount ?? 0;
}
