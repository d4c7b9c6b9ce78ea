import { access } from "node:fs/promises";
import path from "node:path";
import type pg from "pg";
import type { AuditActor } from "../audit/event";
import type { Config } from "../config";
import { createPool } from "../database/pool";
import type { Logger } from "../log";
import type { Service } from "../process";
import { openDatabase, startService } from "../service/start";
import { checkBacklog } from "./backlog";
import { type Check, check, sentenceOf, unchecked } from "./check";
import { checkScratch } from "./check-scratch";
import { checkClock } from "./clock";
import { checkDatabase } from "./database";
import { checkForwarded } from "./forwarded";
import { checkHistory } from "./history";
import { checkKeys } from "./keys";
import { checkMigrations } from "./migrations";
import { checkNotifications } from "./notifications";
import { checkPageHeaders } from "./page-headers";
import { checkRunning } from "./running";
import { checkSettings } from "./settings";
import { checkSignedWebhook } from "./signed-webhook";

export type DoctorOptions = {
  env: Record<string, string | undefined>;
  log: Logger;
  actor: AuditActor;
  /** Where the running service is asked; default `COUNTERSIGN_URL`. */
  url?: string | undefined;
  /** Leaves out what writes: the scratch approval, and whose address is counted. */
  isReadOnly?: boolean;
  /** Holds a wait for half a minute too. */
  isSlow?: boolean;
};

/**
 * Looks a whole deployment over: settings, database, migrations, history, clock, keys, the running service through its proxy, and the gate
 * itself on a scratch approval. Goes on after a failure with everything that does not need what failed. Migrates nothing and makes neither
 * a database nor a key.
 */
export async function diagnose(options: DoctorOptions): Promise<Check[]> {
  const checks: Check[] = [];
  const add = (...made: Check[]) => {
    checks.push(...made);
  };
  const { settings, config } = await checkSettings(options.env);
  add(settings);
  if (!config) {
    add(unchecked("everything else", "the settings are faulty"));
    return checks;
  }
  await withDatabase(config, options.log, add, async (service) => {
    const url = (options.url ?? config.url).replace(/\/$/, "");
    add(await checkRunning(url, config, service));
    add(await checkPageHeaders(url, config));
    if (!service) return;
    add(await checkSignedWebhook(service));
    if (options.isReadOnly) return;
    add(await checkForwarded(service, url));
    add(...(await checkScratch(service, options.actor, options.isSlow ? url : undefined)));
  });
  return checks;
}

/** Everything that rests on the database; `work` gets the service where one can be put together. */
async function withDatabase(
  config: Config,
  log: Logger,
  add: (...made: Check[]) => void,
  work: (service: Service | undefined) => Promise<void>,
): Promise<void> {
  const opened = await open(config, log).catch((error: unknown) => {
    add({ name: "database", status: "failed", message: sentenceOf(error) });
    return undefined;
  });
  if (!opened) return work(undefined);
  // The race needs connections, however few a process is given.
  const roomy = { ...config, databasePoolMax: Math.max(config.databasePoolMax, 12) };
  const pool = createPool({ connectionString: opened.url, max: 2, log });
  let started: Awaited<ReturnType<typeof startService>> | undefined;
  try {
    const database = await checkDatabase(pool, config);
    add(database);
    if (await isAnswering(pool)) {
      add(
        await checkNotifications(opened.url),
        await checkMigrations(pool),
        await checkHistory(pool),
        await checkClock(pool),
      );
      add(
        await check("secret", async (found) => {
          await requireStarted(pool);
          started = await startService(roomy, { migrate: false, log });
          found.facts.push("The database belongs to this secret.");
        }),
      );
    }
    if (started) add(await checkKeys(started.service), await checkBacklog(pool));
    await work(started?.service);
  } finally {
    await started?.stop();
    await pool.end();
    await opened.stop();
  }
}

/** Nothing is made here that was not there: a first start would make a database, a secret and a key. */
async function open(config: Config, log: Logger) {
  const record = path.join(config.dataDir, "postgres", "cluster.json");
  const isThere =
    config.databaseUrl !== undefined ||
    (await access(record).then(
      () => true,
      () => false,
    ));
  if (!isThere) throw new Error(`There is no database in ${config.dataDir} yet: start the service once.`);
  return openDatabase(config, log);
}

const isAnswering = (pool: pg.Pool): Promise<boolean> =>
  pool.query("SELECT 1").then(
    () => true,
    () => false,
  );

async function requireStarted(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ started: boolean }>(`SELECT to_regclass('service') IS NOT NULL AS "started"`);
  const isStarted = rows[0]?.started && ((await pool.query(`SELECT 1 FROM "service"`)).rowCount ?? 0) > 0;
  if (!isStarted)
    throw new Error("No service has been started on this database yet: start one, which makes issuer and key.");
}
