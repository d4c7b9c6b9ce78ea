import type pg from "pg";
import { transact } from "../database/transact";
import { createSigningKey } from "../keys/create";
import { insertSigningKey, lockSigningKeys } from "../keys/store";
import type { Secrets } from "../secrets/derive";

/** Makes the first signing key of a new deployment, active at once; of processes that start together one makes it. */
export async function ensureFirstKey(pool: pg.Pool, secrets: Secrets): Promise<void> {
  await transact(pool, async (db) => {
    if ((await lockSigningKeys(db)).length > 0) return;
    const now = new Date();
    await insertSigningKey(db, await createSigningKey(secrets, { publishFrom: now, activeFrom: now }));
  });
}
