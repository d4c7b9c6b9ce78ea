import path from "node:path";
import { readApproval } from "../approvals/store";
import { createClientCache } from "../clients/cache";
import type { Config } from "../config";
import { bringUpToDate, type DatabaseAddress } from "../database/bring-up-to-date";
import { createPool } from "../database/pool";
import { createPrisma } from "../database/prisma";
import { startEmbedded } from "../embedded/start";
import { createKeyRing } from "../keys/key-ring";
import { createLogger, type Logger } from "../log";
import { countWakes } from "../metrics/count-wakes";
import { createMetrics } from "../metrics/metrics";
import { refuseOwnIssuer } from "../oidc/own-issuer";
import type { Service } from "../process";
import { loadSecrets } from "../secrets/load";
import { warnOfPrevious } from "../secrets/warn-of-previous";
import { createTraces } from "../traces/traces";
import { createWaitHub } from "../waits/hub";
import { hubSources } from "../waits/hub-sources";
import { listen } from "../waits/listen";
import { shareRead } from "../waits/share-read";
import { createBell } from "../webhooks/bell";
import { createDraining } from "./draining";
import { ensureFirstKey } from "./first-key";
import { ensureIssuer } from "./issuer";
import { version } from "./version";

export type StartOptions = {
  /** Apply pending migrations first. */
  migrate?: boolean;
  /** Open the connection that wakes parked waits. */
  listen?: boolean;
  log?: Logger;
};

/**
 * Puts a service together: secret, database (embedded where none is configured), migrations, issuer, first signing key, pool. `stop`
 * gives everything back, the embedded database last. Throws where the database cannot be reached, was written by a newer version, or
 * does not belong to this secret.
 */
export async function startService(
  config: Config,
  options: StartOptions = {},
): Promise<{ service: Service; stop(): Promise<void> }> {
  const log = options.log ?? createLogger(config);
  const secrets = await loadSecrets(config);
  if (secrets.previous && options.listen) await warnOfPrevious(config, log);
  const database = await openDatabase(config, log);
  const pool = createPool({ connectionString: database.url, max: config.databasePoolMax, log });
  const prisma = createPrisma(pool);
  const close = async () => {
    await prisma.$disconnect();
    await pool.end();
    await database.stop();
  };
  try {
    if (options.migrate) await bringUpToDate(database, log);
    const issuer = await ensureIssuer(pool, secrets, config.url);
    refuseOwnIssuer(config, issuer);
    await ensureFirstKey(pool, secrets);
    const keys = createKeyRing({ prisma, secrets, log });
    await keys.refresh();
    const outbox = createBell();
    const wakes = countWakes(hubSources(pool, outbox, log));
    const hub = createWaitHub(wakes.sources);
    const listening = options.listen
      ? listen({ connectionString: database.url, hub: wakes.listener(hub), keys, log })
      : undefined;
    const traces = createTraces(config.traces, version, log);
    const metrics = createMetrics({ version, pool, hub, wakes: wakes.counts, keys, listening });
    const service: Service = {
      config,
      issuer,
      secrets,
      pool,
      prisma,
      keys,
      hub,
      readParked: shareRead((id) => readApproval(pool, id)),
      outbox,
      draining: createDraining(),
      metrics,
      traces,
      log,
      clients: createClientCache(prisma),
    };
    return {
      service,
      stop: async () => {
        await listening?.stop();
        await traces.stop();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The database of this configuration; the embedded one is started, or joined, for as long as it is used. */
export async function openDatabase(
  config: Pick<Config, "databaseUrl" | "databaseOwnerUrl" | "dataDir">,
  log: Logger,
): Promise<DatabaseAddress & { stop(): Promise<void> }> {
  const { databaseUrl: url, databaseOwnerUrl: ownerUrl } = config;
  if (url) return { url, ownerUrl, stop: async () => {} };
  const embedded = await startEmbedded({
    dataDir: path.resolve(config.dataDir),
    log: { info: (o, m) => log.info(o, m), warn: (o, m) => log.warn(o, m) },
  });
  return { url: embedded.serviceUrl, ownerUrl: embedded.url, stop: () => embedded.stop() };
}
