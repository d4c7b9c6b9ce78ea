import type pg from "pg";
import { transact } from "../database/transact";
import { type Attempt, lockAccount } from "./attempt";
import { uncountVolume } from "./volume";

/**
 * Takes back what `countAttempt` counted: `right` also forgives what the same source got wrong before at this account, `unverified` is for
 * an attempt that could not be looked at and leaves everything as it was, also since when a source waits.
 */
export async function uncountAttempt(pool: pg.Pool, attempt: Attempt, why: "right" | "unverified"): Promise<void> {
  const { source, account, volume, counted } = attempt;
  await transact(pool, async (db) => {
    await lockAccount(db, attempt);
    if (why === "right") await db.query({ name: "throttle-forgive", text: forgiveSql, values: [source, account] });
    else
      for (const [key, before] of [
        [source, counted?.source],
        [account, counted?.account],
      ] as const)
        await db.query({
          name: "throttle-restore",
          text: restoreSql,
          values: [key, before ?? null, counted?.at ?? null],
        });
  });
  if (volume) await uncountVolume(pool, volume);
}

const forgiveSql = `
WITH gone AS (DELETE FROM "throttle" WHERE "key" = $1 OR ("key" = $2 AND "failures" <= 1))
UPDATE "throttle" SET "failures" = "failures" - 1 WHERE "key" = $2 AND "failures" > 1`;

// An attempt that was counted after this one has its own instant, which stays.
const restoreSql = `
WITH gone AS (DELETE FROM "throttle" WHERE "key" = $1 AND "failures" <= 1)
UPDATE "throttle" SET "failures" = "failures" - 1,
  "last_at" = CASE WHEN "last_at" = $3 THEN coalesce($2, "last_at") ELSE "last_at" END
WHERE "key" = $1 AND "failures" > 1`;
