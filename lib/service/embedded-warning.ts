import type { Config } from "../config";
import type { Logger } from "../log";
import { isLoopbackHost } from "../requests/loopback";

/**
 * Says once, at start, that approvals others rely on lie in one folder of one machine: where the process runs for production, or its public
 * URL leads here from other machines, and `DATABASE_URL` is unset. Nothing is refused, and `/readyz` does not change.
 */
export function warnOfEmbedded(
  { config, log }: { config: Pick<Config, "databaseUrl" | "url" | "dataDir">; log: Pick<Logger, "warn"> },
  { isProduction }: { isProduction: boolean },
): void {
  if (config.databaseUrl !== undefined) return;
  if (!isProduction && isLoopbackHost(new URL(config.url).hostname)) return;
  log.warn(
    { dataDir: config.dataDir },
    "the database is the embedded one: it is on this machine alone, and lost with its disk. Set DATABASE_URL for production, or back the folder up",
  );
}
