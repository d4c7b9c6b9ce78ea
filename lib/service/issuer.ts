import type pg from "pg";
import type { Secrets } from "../secrets/derive";
import { isMacOf, type MacParts, mac } from "../secrets/mac";

/**
 * `iss` of everything that this deployment signs: its public URL at first start, for ever. A changed URL keeps the issuer, so old
 * receipts and local accounts stay what they are. Throws where the row was written neither with this secret nor with the one before it
 * (I17).
 */
export async function ensureIssuer(pool: pg.Pool, secrets: Secrets, publicUrl: string): Promise<string> {
  const createdAt = new Date();
  await pool.query(
    `INSERT INTO "service" ("id", "issuer", "created_at", "mac") VALUES (1, $1, $2, $3) ON CONFLICT DO NOTHING`,
    [publicUrl, createdAt, macOfService(secrets, { issuer: publicUrl, createdAt })],
  );
  const { rows } = await pool.query<ServiceRow>(`SELECT "issuer", "created_at" AS "createdAt", "mac" FROM "service"`);
  const row = rows[0];
  if (!row || !isAuthenticService(secrets, row))
    throw new Error(
      "This database belongs to another COUNTERSIGN_SECRET (or its issuer was changed by hand). During a rotation, set the one before it as COUNTERSIGN_SECRET_PREVIOUS.",
    );
  return row.issuer;
}

/** The one row of facts that are fixed at first start. */
export type ServiceRow = { issuer: string; createdAt: Date; mac: Uint8Array };

export function macOfService(secrets: Secrets, row: Omit<ServiceRow, "mac">): Uint8Array<ArrayBuffer> {
  return new Uint8Array(mac(secrets.row, partsOf(row)));
}

export function isAuthenticService(secrets: Secrets, row: ServiceRow): boolean {
  return isMacOf(secrets, "row", partsOf(row), row.mac);
}

const partsOf = (row: Omit<ServiceRow, "mac">): MacParts => ["service", row.issuer, row.createdAt.toISOString()];
