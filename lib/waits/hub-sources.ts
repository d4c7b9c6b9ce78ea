import type pg from "pg";
import type { Logger } from "../log";
import type { Bell } from "../webhooks/bell";
import type { HubOptions } from "./hub";
import { notifyChannel } from "./listen";

/** What the hub of a process over this database reads, and how it tells the others; each change also rings for the deliveries. */
export function hubSources(pool: pg.Pool, outbox: Bell, log: Logger): HubOptions {
  return {
    log,
    readVersions: (ids) => readVersions(pool, ids),
    readRefusedKeys: (keyIds) => readRefusedKeys(pool, keyIds),
    publish: (id) => {
      outbox.ring();
      return publish(pool, id);
    },
  };
}

async function readVersions(pool: pg.Pool, ids: string[]): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ id: string; version: number }>(
    `SELECT "id", "version" FROM "approval" WHERE "id" = ANY($1)`,
    [ids],
  );
  return new Map(rows.map((row) => [row.id, row.version]));
}

async function readRefusedKeys(pool: pg.Pool, keyIds: string[]): Promise<Set<string>> {
  const { rows } = await pool.query<{ keyId: string }>(
    `SELECT k."key_id" AS "keyId" FROM "api_key" k JOIN "client" c ON c."id" = k."client_id"
     WHERE k."key_id" = ANY($1) AND (k."revoked_at" IS NOT NULL OR c."disabled_at" IS NOT NULL)`,
    [keyIds],
  );
  return new Set(rows.map(({ keyId }) => keyId));
}

/** Tells the other processes. */
async function publish(pool: pg.Pool, id: string): Promise<void> {
  await pool.query("SELECT pg_notify($1, $2)", [notifyChannel, id]);
}
