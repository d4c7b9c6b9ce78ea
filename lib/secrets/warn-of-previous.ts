import type { Config } from "../config";
import type { Logger } from "../log";
import { rotatedAt } from "./rotate-file";

/** Says in the log that a previous secret is accepted, since when, where that is known, and how that ends. */
export async function warnOfPrevious(config: Pick<Config, "secret" | "dataDir">, log: Logger): Promise<void> {
  if (config.secret)
    log.warn(
      "a previous secret is accepted: after `countersign secret rotate-rows`, and a day later, take COUNTERSIGN_SECRET_PREVIOUS away and start again",
    );
  else
    log.warn(
      { since: (await rotatedAt(config.dataDir))?.toISOString() },
      "a previous secret is accepted: a day after the rotation run `countersign secret drop-previous` and start again",
    );
}
