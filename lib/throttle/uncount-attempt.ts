import type pg from "pg";
import { transact } from "../database/transact";
import { type Attempt, lockAccount } from "./attempt";

/**
 * Takes back what `countAttempt` counted: `right` also forgives what the same source got wrong before, `unverified` is for an attempt that
 * could not be looked at and leaves everything as it was.
 */
export async function uncountAttempt(pool: pg.Pool, attempt: Attempt, why: "right" | "unverified"): Promise<void> {
  await transact(pool, async (db) => {
    await lockAccount(db, attempt);
    await db.query({
      name: "throttle-uncount",
      text: uncountSql,
      values: [attempt.source, attempt.account, why === "right"],
    });
  });
}

const uncountSql = `
WITH gone AS (DELETE FROM "throttle" WHERE "key" = $1 AND ($3 OR "failures" <= 1) RETURNING "key")
UPDATE "throttle" SET "failures" = greatest("failures" - 1, 0)
WHERE "key" = $2 OR ("key" = $1 AND NOT $3 AND "failures" > 1)`;
