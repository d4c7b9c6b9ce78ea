import type pg from "pg";
import type { Secrets } from "../secrets/derive";
import { mac } from "../secrets/mac";
import { networkOf, siteOf } from "./network";

/** The counters of what a network may send in a minute, and how much each bears: of the network first, then of its site. */
export type Volume = { keys: Buffer[]; most: number[] };

/** How many times what one network may send all networks of a site may. */
const siteFactor = 3;

/**
 * `most` is for one network. Whoever holds a site's whole block has thousands of networks (`siteOf`), but some blocks are shared by
 * customers, so a site gets three times as much.
 */
export function volumeOf(
  secrets: Secrets,
  kind: "password" | "api_key",
  address: string | undefined,
  most: number,
): Volume {
  const key = (name: string) => mac(secrets.tag, ["throttle", "volume", kind, name]);
  const site = siteOf(address);
  if (site === undefined) return { keys: [key(networkOf(address))], most: [most] };
  return { keys: [key(networkOf(address)), key(site)], most: [most, most * siteFactor] };
}

/** `waitSeconds` is 0 where it was counted; `isFirst` for the one that was refused first in this minute. */
export type Counted = { waitSeconds: number; isFirst: boolean };

/**
 * Counts one more, or says the seconds until the minute ends that began with the first of them. Of any number at the same moment, on any
 * number of replicas, no more than `most` get 0. Those after the first that is refused change nothing: they cost a look into an index.
 */
export async function countVolume(pool: pg.Pool, { keys, most }: Volume): Promise<Counted> {
  const { rows } = await pool.query<{ wait: number; first: boolean }>({
    name: "throttle-volume",
    text: countSql,
    values: [keys, most],
  });
  const [row] = rows;
  return { waitSeconds: row?.wait ?? 0, isFirst: row?.first ?? false };
}

/** Takes back one that was counted. One row at a time: whoever counts takes two, and neither may wait for the other. */
export async function uncountVolume(pool: pg.Pool, { keys }: Volume): Promise<void> {
  for (const key of keys) {
    await pool.query({ name: "throttle-volume-less", text: lessSql, values: [key] });
    await pool.query({ name: "throttle-volume-none", text: noneSql, values: [key] });
  }
}

/** Of a row of `asked`: the seconds until its minute ends. Here "last_at" is when the minute began. */
export const minuteLeft = `greatest(extract(EPOCH FROM t."last_at" - clock."now") + 60, 1)::FLOAT8`;
const isOpen = `"throttle"."last_at" > excluded."last_at" - INTERVAL '1 minute'`;

const countSql = `
WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS "now"),
asked AS (SELECT * FROM unnest($1::BYTEA[], $2::INTEGER[]) WITH ORDINALITY AS a("key", "most", "place")),
spent AS MATERIALIZED (
  SELECT ${minuteLeft} AS "wait" FROM asked JOIN "throttle" t USING ("key"), clock
  WHERE t."failures" > asked."most" AND t."last_at" > clock."now" - INTERVAL '1 minute'),
counted AS (
  INSERT INTO "throttle" ("key", "failures", "last_at")
  SELECT asked."key", 1, clock."now" FROM asked, clock WHERE NOT EXISTS (SELECT FROM spent) ORDER BY asked."place"
  ON CONFLICT ("key") DO UPDATE SET
    "failures" = CASE WHEN ${isOpen} THEN "throttle"."failures" + 1 ELSE 1 END,
    "last_at" = CASE WHEN ${isOpen} THEN "throttle"."last_at" ELSE excluded."last_at" END
  RETURNING "key", "failures", "last_at"),
refused AS (
  SELECT "wait", FALSE AS "first" FROM spent
  UNION ALL
  SELECT ${minuteLeft}, t."failures" = asked."most" + 1 FROM counted t JOIN asked USING ("key"), clock WHERE t."failures" > asked."most")
SELECT coalesce(max("wait"), 0) AS "wait", coalesce(bool_or("first"), FALSE) AS "first" FROM refused`;

const lessSql = `UPDATE "throttle" SET "failures" = "failures" - 1 WHERE "key" = $1 AND "failures" > 0`;
const noneSql = `DELETE FROM "throttle" WHERE "key" = $1 AND "failures" <= 0`;
