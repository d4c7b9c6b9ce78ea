import type pg from "pg";
import { Problem } from "../problem";

/**
 * Waits for every statement under way that mints or changes an approval, and holds new ones back until the commit: what looked at the
 * database before has written by now, and what comes later sees what this transaction did. A statement locks this table before it looks.
 * Errors: `unavailable` where approvals stay locked for more than five seconds.
 */
export async function stopWriters(db: pg.PoolClient): Promise<void> {
  await db.query("SET LOCAL lock_timeout = '5s'");
  await db.query(`LOCK TABLE "approval" IN EXCLUSIVE MODE`).catch((error: Error & { code?: string }) => {
    if (error.code !== "55P03") throw error;
    throw new Problem(
      "unavailable",
      { detail: "The approvals are busy; try again.", retryAfterSeconds: 1 },
      { cause: error },
    );
  });
}
