import type pg from "pg";
import { transact } from "../database/transact";
import { forgottenAfter, judgedSql } from "./account-wait";
import { type Attempt, lockAccount } from "./attempt";
import { countVolume, uncountVolume } from "./volume";

/**
 * Counts an attempt before it is verified, and returns 0; or returns the seconds that its source has to wait, and counts nothing at the
 * account. Of any number at the same moment, on any number of replicas, each sees those before it. Judged by the database's clock, as
 * `account-wait` says and, where the source is only a network, by what that has tried at all accounts in this minute.
 */
export async function countAttempt(pool: pg.Pool, attempt: Attempt): Promise<number> {
  const { volume } = attempt;
  const spent = volume ? await countVolume(pool, volume) : undefined;
  if (spent && spent.waitSeconds > 0) return spent.waitSeconds;
  const waitSeconds = await transact(pool, async (db) => {
    await lockAccount(db, attempt);
    const { rows } = await db.query<Judged>({
      name: "throttle-count",
      text: countSql,
      values: [attempt.source, attempt.account],
    });
    const [judged] = rows;
    if (judged) attempt.counted = { at: judged.at, source: judged.source_at, account: judged.account_at };
    return judged?.wait ?? 0;
  });
  if (volume && waitSeconds > 0) await uncountVolume(pool, volume);
  return waitSeconds;
}

type Judged = { wait: number; at: Date; source_at: Date | null; account_at: Date | null };

const countSql = `${judgedSql},
counted AS (
  INSERT INTO "throttle" ("key", "failures", "last_at")
  SELECT k, 1, "now" FROM judged, unnest(ARRAY[$1, $2]::BYTEA[]) AS k WHERE "wait" = 0
  ON CONFLICT ("key") DO UPDATE SET "last_at" = excluded."last_at",
    "failures" = CASE WHEN "throttle"."last_at" > excluded."last_at" - ${forgottenAfter} THEN "throttle"."failures" + 1 ELSE 1 END)
SELECT "wait", "now"::TIMESTAMPTZ(3) AS "at", "source_at", "account_at" FROM judged`;
