import type pg from "pg";
import type { SigningKeyRow } from "./signing-key";

type Queryable = Pick<pg.Pool, "query">;

/** Every signing key's row, for a change to it: whoever changes one holds the lock, so that no change undoes another's. In a transaction. */
export async function lockSigningKeys(db: pg.PoolClient): Promise<SigningKeyRow[]> {
  await db.query("SELECT pg_advisory_xact_lock(hashtextextended('countersign/signing-keys', 0))");
  const { rows } = await db.query<SigningKeyRow>(
    `SELECT "kid", "public_jwk" AS "publicJwk", "private_jwe" AS "privateJwe", "status", "publish_from" AS "publishFrom",
       "active_from" AS "activeFrom", "retired_at" AS "retiredAt", "revoked_at" AS "revokedAt", "mac" FROM "signing_key"`,
  );
  return rows;
}

export async function insertSigningKey(db: Queryable, key: SigningKeyRow): Promise<void> {
  await db.query(
    `INSERT INTO "signing_key" ("kid", "public_jwk", "private_jwe", "status", "publish_from", "active_from", "retired_at", "revoked_at", "mac")
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    valuesOf(key),
  );
}

/** Replaces all of a key's row but its id. */
export async function updateSigningKey(db: Queryable, key: SigningKeyRow): Promise<void> {
  await db.query(
    `UPDATE "signing_key" SET "public_jwk" = $2, "private_jwe" = $3, "status" = $4, "publish_from" = $5, "active_from" = $6,
       "retired_at" = $7, "revoked_at" = $8, "mac" = $9 WHERE "kid" = $1`,
    valuesOf(key),
  );
}

function valuesOf(key: SigningKeyRow): unknown[] {
  const { kid, publicJwk, privateJwe, status, publishFrom, activeFrom, retiredAt, revokedAt, mac } = key;
  return [kid, publicJwk, privateJwe, status, publishFrom, activeFrom, retiredAt, revokedAt, mac];
}
