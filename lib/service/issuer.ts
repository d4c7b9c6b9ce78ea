import type pg from "pg";
import type { Secrets } from "../secrets/derive";
import { isSameMac, mac } from "../secrets/mac";

/**
 * `iss` of everything that this deployment signs: its public URL at first start, for ever. A changed URL keeps the issuer, so old
 * receipts and local accounts stay what they are. Throws where the row was not written with this secret (I17).
 */
export async function ensureIssuer(pool: pg.Pool, secrets: Secrets, publicUrl: string): Promise<string> {
  const createdAt = new Date();
  await pool.query(
    `INSERT INTO "service" ("id", "issuer", "created_at", "mac") VALUES (1, $1, $2, $3) ON CONFLICT DO NOTHING`,
    [publicUrl, createdAt, macOf(secrets, publicUrl, createdAt)],
  );
  const { rows } = await pool.query<{ issuer: string; created_at: Date; mac: Buffer }>(
    `SELECT "issuer", "created_at", "mac" FROM "service"`,
  );
  const row = rows[0];
  if (!row || !isSameMac(row.mac, macOf(secrets, row.issuer, row.created_at)))
    throw new Error("This database belongs to another COUNTERSIGN_SECRET (or its issuer was changed by hand).");
  return row.issuer;
}

const macOf = (secrets: Secrets, issuer: string, createdAt: Date) =>
  mac(secrets.row, ["service", issuer, createdAt.toISOString()]);
