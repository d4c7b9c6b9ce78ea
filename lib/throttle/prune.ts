import type pg from "pg";
import { forgottenAfter } from "./account-wait";

/** Deletes the counts that are forgotten. It waits for nobody: a row that is being counted is left for the next time. */
export async function pruneThrottles(pool: pg.Pool): Promise<void> {
  await pool.query(`
DELETE FROM "throttle" WHERE "key" IN (
  SELECT "key" FROM "throttle" WHERE "last_at" <= clock_timestamp() - ${forgottenAfter} FOR UPDATE SKIP LOCKED)`);
}
