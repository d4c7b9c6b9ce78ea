import type pg from "pg";
import type { Config } from "../config";
import { isLoopbackHost } from "../requests/loopback";
import { type Check, check, type Findings } from "./check";

/** PostgreSQL itself: its version, how it keeps what it has committed, how far away it is, and whether its connections suffice. */
export function checkDatabase(pool: pg.Pool, config: Config): Promise<Check> {
  return check("database", async (found) => {
    const { rows } = await pool.query<Settings>(settingsSql);
    const settings = rows[0];
    if (!settings) throw new Error("the database told nothing of itself");
    judgeDurability(found, settings);
    judgeConnections(found, settings, config.databasePoolMax);
    if (settings.version < 150_000)
      found.failures.push(`PostgreSQL ${settings.versionText} is too old: 15 or later is needed.`);
    if (settings.encoding !== "UTF8")
      found.failures.push(
        `The database's encoding is ${settings.encoding}: make one with ENCODING 'UTF8' and move to it.`,
      );
    if (settings.isolation !== "read committed")
      found.failures.push(
        `default_transaction_isolation is ${settings.isolation}: set "read committed", which our locks are made for.`,
      );
    if (!settings.isEncrypted && config.databaseUrl !== undefined && !isNear(config.databaseUrl))
      found.warnings.push("The connection to the database is not encrypted: add ?sslmode=verify-full to DATABASE_URL.");
    const latencyMs = await medianLatencyMs(pool);
    if (latencyMs > latencyWarnMs)
      found.warnings.push(
        `A question to the database takes ${latencyMs.toFixed(1)} ms: every request asks several, so put the two closer together.`,
      );
    found.facts.push(
      `PostgreSQL ${settings.versionText}, UTF8, ${latencyMs.toFixed(1)} ms away, ${settings.used} of ${settings.free + settings.used} connections in use.`,
    );
  });
}

type Settings = {
  version: number;
  versionText: string;
  encoding: string;
  fsync: string;
  pages: string;
  commit: string;
  isolation: string;
  isReplica: boolean;
  isReadOnly: string;
  isEncrypted: boolean;
  used: number;
  free: number;
};

const settingsSql = `
SELECT current_setting('server_version_num')::int AS "version", current_setting('server_version') AS "versionText",
  current_setting('server_encoding') AS "encoding", current_setting('fsync') AS "fsync", current_setting('full_page_writes') AS "pages",
  current_setting('synchronous_commit') AS "commit", current_setting('default_transaction_isolation') AS "isolation",
  pg_is_in_recovery() AS "isReplica", current_setting('default_transaction_read_only') AS "isReadOnly",
  coalesce((SELECT s."ssl" FROM pg_stat_ssl s WHERE s."pid" = pg_backend_pid()), false) AS "isEncrypted", c."used",
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int - c."used" AS "free"
FROM (SELECT count(*)::int AS "used" FROM pg_stat_activity WHERE "backend_type" = 'client backend') c`;

function judgeDurability(found: Findings, { fsync, pages, commit, isReplica, isReadOnly }: Settings): void {
  if (isReplica) found.failures.push("This is a standby, which cannot be written: name the primary in DATABASE_URL.");
  else if (isReadOnly === "on")
    found.failures.push("default_transaction_read_only is on: nothing can be decided. Turn it off.");
  for (const [name, value] of [
    ["fsync", fsync],
    ["full_page_writes", pages],
    ["synchronous_commit", commit],
  ])
    if (value === "off")
      found.failures.push(
        `${name} is off: after a crash a consumed approval could be consumed again. Turn it on, for this role too.`,
      );
}

/** Each process holds its pool and one connection that listens. */
function judgeConnections(found: Findings, { free, used }: Settings, poolMax: number): void {
  if (free < poolMax + 1)
    found.warnings.push(
      `${free} connections are free beside the ${used} in use; a process may open ${poolMax + 1}. Raise max_connections or lower DATABASE_POOL_MAX.`,
    );
}

const latencyWarnMs = 10;

async function medianLatencyMs(pool: pg.Pool): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 11; i += 1) {
    const startedAt = performance.now();
    await pool.query("SELECT 1");
    times.push(performance.now() - startedAt);
  }
  return times.sort((a, b) => a - b)[5] ?? 0;
}

/** On this machine, or by a socket. */
function isNear(databaseUrl: string): boolean {
  const host = URL.canParse(databaseUrl) ? new URL(databaseUrl).hostname : "";
  return host === "" || isLoopbackHost(host);
}
