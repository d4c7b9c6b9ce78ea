import type pg from "pg";
import { transact } from "../database/transact";
import { type Attempt, lockAccount } from "./attempt";

/**
 * Counts an attempt before it is verified, and returns 0; or returns the seconds that its source has to wait, and counts nothing. Of any
 * number at the same moment, on any number of replicas, each sees those before it. Judged by the database's clock.
 *
 * A source's first attempt never waits, so that nobody is kept out by what others do. Afterwards it waits since its last counted attempt by
 * the failures of the source or of the account, whichever are more: not for the first three, then 1, 2, 4 … and at most 60 s. A count dies
 * after an hour in which nothing was added.
 */
export async function countAttempt(pool: pg.Pool, attempt: Attempt): Promise<number> {
  return transact(pool, async (db) => {
    await lockAccount(db, attempt);
    const { rows } = await db.query<{ wait: number }>({
      name: "throttle-count",
      text: countSql,
      values: [attempt.source, attempt.account],
    });
    return rows[0]?.wait ?? 0;
  });
}

/** After so long without one more, the failures are forgotten. */
export const forgottenAfter = "INTERVAL '1 hour'";

const countSql = `
WITH clock AS (SELECT clock_timestamp() AS "now"),
seen AS (
  SELECT clock."now", s."last_at", greatest(coalesce(s."failures", 0), coalesce(a."failures", 0)) AS "failures"
  FROM clock
  LEFT JOIN "throttle" s ON s."key" = $1 AND s."last_at" > clock."now" - ${forgottenAfter}
  LEFT JOIN "throttle" a ON a."key" = $2 AND a."last_at" > clock."now" - ${forgottenAfter}),
judged AS (
  SELECT "now", CASE WHEN "last_at" IS NULL OR "failures" < 3 THEN 0
    ELSE greatest(0, extract(EPOCH FROM "last_at" - "now") + least(60, 2 ^ least("failures" - 3, 6)))
  END::FLOAT8 AS "wait" FROM seen),
counted AS (
  INSERT INTO "throttle" ("key", "failures", "last_at")
  SELECT k, 1, "now" FROM judged, unnest(ARRAY[$1, $2]::BYTEA[]) AS k WHERE "wait" = 0
  ON CONFLICT ("key") DO UPDATE SET "last_at" = excluded."last_at",
    "failures" = CASE WHEN "throttle"."last_at" > excluded."last_at" - ${forgottenAfter} THEN "throttle"."failures" + 1 ELSE 1 END)
SELECT "wait" FROM judged`;
