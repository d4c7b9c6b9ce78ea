/** After so long without one more, the failures at an account are forgotten. */
export const forgottenAfter = "INTERVAL '1 hour'";

/**
 * The start of a statement that judges an attempt by its source's key $1 and its account's key $2: the table `judged` has the seconds to
 * wait. A source's first attempt never waits, so that nobody is kept out by what others do. Afterwards it waits since its last counted
 * attempt by the failures of the source or of the account, whichever are more: not for the first three, then 1, 2, 4 … and at most 60 s.
 */
export const judgedSql = `
WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS "now"),
seen AS (
  SELECT clock."now", s."last_at" AS "source_at", a."last_at" AS "account_at",
    greatest(coalesce(s."failures", 0), coalesce(a."failures", 0)) AS "failures"
  FROM clock
  LEFT JOIN "throttle" s ON s."key" = $1 AND s."last_at" > clock."now" - ${forgottenAfter}
  LEFT JOIN "throttle" a ON a."key" = $2 AND a."last_at" > clock."now" - ${forgottenAfter}),
judged AS (
  SELECT "now", "source_at", "account_at", CASE WHEN "source_at" IS NULL OR "failures" < 3 THEN 0
    ELSE greatest(0, extract(EPOCH FROM "source_at" - "now") + least(60, 2 ^ least("failures" - 3, 6)))
  END::FLOAT8 AS "wait" FROM seen)`;
