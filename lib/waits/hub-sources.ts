import type pg from "pg";
import type { Logger } from "../log";
import type { Bell } from "../webhooks/bell";
import type { HubOptions } from "./hub";
import { notifyChannel } from "./listen";
import type { News, Seen } from "./sweep";

/** What the hub of a process over this database reads, and how it tells the others; each change also rings for the deliveries. */
export function hubSources(pool: pg.Pool, outbox: Bell, log: Logger): HubOptions {
  return {
    log,
    readNews: (seen, keyIds) => readNews(pool, seen, keyIds),
    publish: (id) => {
      outbox.ring();
      return publish(pool, id);
    },
  };
}

/** One query, whose answer is empty as a rule, however many are parked. What is not there (any more) has changed, and is no key. */
async function readNews(pool: pg.Pool, seen: Seen[], keyIds: string[]): Promise<News> {
  const { rows } = await pool.query<{ id: string; version: number | null }>({
    name: "waits-news",
    text: newsSql,
    values: [seen.map(({ id }) => id), seen.map(({ version }) => version), keyIds],
  });
  return {
    changed: rows.flatMap(({ id, version }) => (version === null ? [] : [{ id, version }])),
    refusedKeys: new Set(rows.flatMap(({ id, version }) => (version === null ? [id] : []))),
  };
}

const newsSql = `
SELECT s."id", s."version" FROM unnest($1::text[], $2::int[]) AS s("id", "version") LEFT JOIN "approval" a ON a."id" = s."id"
WHERE a."version" IS DISTINCT FROM s."version"
UNION ALL
SELECT s."id", NULL FROM unnest($3::text[]) AS s("id")
  LEFT JOIN ("api_key" k JOIN "client" c ON c."id" = k."client_id" AND c."disabled_at" IS NULL) ON k."key_id" = s."id" AND k."revoked_at" IS NULL
WHERE k."key_id" IS NULL`;

/** Tells the other processes. */
async function publish(pool: pg.Pool, id: string): Promise<void> {
  await pool.query("SELECT pg_notify($1, $2)", [notifyChannel, id]);
}
