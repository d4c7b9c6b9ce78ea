import type pg from "pg";
import { transact } from "../database/transact";
import { createSigningKey } from "../keys/create";
import type { Secrets } from "../secrets/derive";

/** Makes the first signing key of a new deployment, active at once; of processes that start together one makes it. */
export async function ensureFirstKey(pool: pg.Pool, secrets: Secrets): Promise<void> {
  await transact(pool, async (db) => {
    await db.query("SELECT pg_advisory_xact_lock(hashtextextended('countersign/first-key', 0))");
    const { rows } = await db.query(`SELECT 1 FROM "signing_key" LIMIT 1`);
    if (rows.length > 0) return;
    const now = new Date();
    const key = await createSigningKey(secrets, { publishFrom: now, activeFrom: now });
    await db.query(
      `INSERT INTO "signing_key" ("kid", "public_jwk", "private_jwe", "status", "publish_from", "active_from", "mac") VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [key.kid, key.publicJwk, key.privateJwe, key.status, key.publishFrom, key.activeFrom, key.mac],
    );
  });
}
