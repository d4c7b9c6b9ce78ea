import type pg from "pg";
import type { Secrets } from "../secrets/derive";
import { openEndpoint, sealEndpoint } from "./endpoint";

type Row = { endpointId: string; clientId: string; url: string; secretJwe: string; previousSecretJwe: string | null };

/**
 * Seals the secrets of every endpoint anew with the current secret of the deployment, where they rest on the one before it. With `isTrial`
 * it only counts. `unverified`: endpoints that open with neither; nothing is sent to them.
 */
export async function resealEndpoints(
  pool: Pick<pg.Pool, "query">,
  secrets: Secrets,
  isTrial: boolean,
): Promise<{ rewritten: number; unverified: string[] }> {
  const { previous: _previous, ...current } = secrets;
  const { rows } = await pool.query<Row>(
    `SELECT "id" AS "endpointId", "client_id" AS "clientId", "url", "secret_jwe" AS "secretJwe",
       "previous_secret_jwe" AS "previousSecretJwe" FROM "webhook_endpoint" ORDER BY "id"`,
  );
  let rewritten = 0;
  const unverified: string[] = [];
  for (const row of rows) {
    const resealed = await Promise.all([row.secretJwe, row.previousSecretJwe].map((jwe) => reseal(jwe, row)));
    if (resealed[0] === undefined) unverified.push(row.endpointId);
    const isSame = resealed[0] === row.secretJwe && resealed[1] === row.previousSecretJwe;
    if (resealed[0] === undefined || isSame) continue;
    const { rowCount } = isTrial
      ? { rowCount: 1 }
      : await pool.query(replaceSql, [row.endpointId, row.secretJwe, ...resealed]);
    rewritten += rowCount ?? 0;
  }
  return { rewritten, unverified };

  /** The same text where it is the current secret's already; undefined where it is of neither; null for none. */
  async function reseal(jwe: string | null, row: Row): Promise<string | null | undefined> {
    if (jwe === null || (await openEndpoint(current, row, jwe)) !== undefined) return jwe;
    const secret = await openEndpoint(secrets, row, jwe);
    const { endpointId, clientId, url } = row;
    return secret === undefined ? undefined : sealEndpoint(current, { endpointId, clientId, url, secret });
  }
}

// Whoever has rotated the endpoint's own secret meanwhile has sealed it with the current one. One before it that opens with neither is dropped.
const replaceSql = `
UPDATE "webhook_endpoint" SET "secret_jwe" = $3, "previous_secret_jwe" = $4::text,
  "previous_until" = CASE WHEN $4::text IS NOT NULL THEN "previous_until" END
WHERE "id" = $1 AND "secret_jwe" = $2`;
