import type { Service } from "../process";
import { mac } from "../secrets/mac";
import { networkOf } from "./network";

/** Wrong API keys that an address may send in a minute. */
export const wrongKeysMax = 20;

/**
 * Counts a wrong API key from this address. Undefined, or the seconds to wait where there were more than `wrongKeysMax` in the minute that
 * began with the first of them; those beyond change nothing any more, so that a flood costs a look into an index.
 */
export async function countWrongKey(service: Service, address: string | undefined): Promise<number | undefined> {
  const { rows } = await service.pool.query<{ wait: number | null }>({
    name: "throttle-wrong-key",
    text: countSql,
    values: [mac(service.secrets.tag, ["throttle", "api_key", networkOf(address)]), wrongKeysMax],
  });
  return rows[0]?.wait ?? undefined;
}

// Here "last_at" is when the minute began.
const countSql = `
WITH clock AS (SELECT clock_timestamp() AS "now"),
spent AS (
  SELECT t."last_at" FROM "throttle" t, clock
  WHERE t."key" = $1 AND t."failures" > $2::INTEGER AND t."last_at" > clock."now" - INTERVAL '1 minute'),
counted AS (
  INSERT INTO "throttle" ("key", "failures", "last_at")
  SELECT $1, 1, "now" FROM clock WHERE NOT EXISTS (SELECT FROM spent)
  ON CONFLICT ("key") DO UPDATE SET
    "failures" = CASE WHEN "throttle"."last_at" > excluded."last_at" - INTERVAL '1 minute' THEN "throttle"."failures" + 1 ELSE 1 END,
    "last_at" = CASE WHEN "throttle"."last_at" > excluded."last_at" - INTERVAL '1 minute' THEN "throttle"."last_at" ELSE excluded."last_at" END
  RETURNING "failures", "last_at")
SELECT (SELECT greatest(extract(EPOCH FROM w."last_at" - clock."now") + 60, 1)
  FROM (SELECT "last_at" FROM spent UNION ALL SELECT "last_at" FROM counted WHERE "failures" > $2) w)::FLOAT8 AS "wait"
FROM clock`;
