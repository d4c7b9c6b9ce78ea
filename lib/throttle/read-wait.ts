import type pg from "pg";
import { forgottenAfter, judgedSql } from "./account-wait";
import type { Attempt } from "./attempt";
import { minuteLeft } from "./volume";

/**
 * The seconds that an attempt has to wait as things stand, and whether that was recorded within the hour (`noted`, as `notedKey` gives it).
 * One look into an index, without a lock: whoever is refused by it writes nothing and keeps nobody waiting. Where it says 0, `countAttempt`
 * has the last word.
 */
export async function readWait(
  pool: pg.Pool,
  { source, account, volume }: Attempt,
  noted: Buffer,
): Promise<{ waitSeconds: number; isNoted: boolean }> {
  const { rows } = await pool.query<{ wait: number; noted: boolean }>({
    name: "throttle-read",
    text: readSql,
    values: [source, account, volume?.keys ?? [], volume?.most ?? [], noted],
  });
  return { waitSeconds: rows[0]?.wait ?? 0, isNoted: rows[0]?.noted ?? false };
}

const readSql = `${judgedSql},
spent AS (
  SELECT ${minuteLeft} AS "wait" FROM unnest($3::BYTEA[], $4::INTEGER[]) AS asked("key", "most")
  JOIN "throttle" t USING ("key"), clock
  WHERE t."failures" > asked."most" AND t."last_at" > clock."now" - INTERVAL '1 minute')
SELECT greatest("wait", (SELECT max("wait") FROM spent)) AS "wait",
  EXISTS (SELECT FROM "throttle" n WHERE n."key" = $5 AND n."last_at" > judged."now" - ${forgottenAfter}) AS "noted"
FROM judged`;
