import type pg from "pg";
import { absoluteSeconds } from "./session";

/** How long a session that can hold no more stays, for an admin who asks what was open when. */
const keptSeconds = 30 * 24 * 3600;
const batchMax = 1_000;

/**
 * Deletes the rows of sessions that have been over for 30 days: ended, or past their absolute life. Their cookies are refused without a row as
 * with it. It waits for nobody: a row that is in use is left for the next time. Returns how many; at most `batchMax` a call.
 */
export async function pruneSessions(pool: Pick<pg.Pool, "query">): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM "session" WHERE "sid" IN (
       SELECT "sid" FROM "session" WHERE "created_at" < clock_timestamp() - make_interval(secs => $1)
         OR "revoked_at" < clock_timestamp() - make_interval(secs => $2) LIMIT $3 FOR UPDATE SKIP LOCKED)`,
    [absoluteSeconds + keptSeconds, keptSeconds, batchMax],
  );
  return rowCount ?? 0;
}
