import type { AuditActor } from "@/lib/audit/event";
import { type Config, parseConfig } from "@/lib/config";
import { createLogger, type Logger } from "@/lib/log";
import type { Service } from "@/lib/process";
import { startService } from "@/lib/service/start";
import { CommandError } from "./output";

/** Who acts here: whoever may read this deployment's secret. */
export const actor: AuditActor = { kind: "admin", via: "cli" };

/** The deployment's configuration, and a log that is silent below `warn` unless `LOG_LEVEL` says otherwise. */
export function readEnvironment(): { config: Config; log: Logger } {
  const { env } = process;
  const config = parseConfig(env["LOG_LEVEL"]?.trim() ? env : { ...env, LOG_LEVEL: "warn" });
  return { config, log: createLogger(config) };
}

/** The environment as it is, faults and all, with a log as `readEnvironment` makes it. */
export function doctorEnvironment(): { env: Record<string, string | undefined>; log: Logger } {
  const { env } = process;
  const level = env["LOG_LEVEL"]?.trim();
  const isLevel = (text: string | undefined): text is Config["logLevel"] => text !== undefined && text in levels;
  return { env, log: createLogger({ logLevel: isLevel(level) ? level : "warn" }) };
}

const levels = { trace: 1, debug: 1, info: 1, warn: 1, error: 1, fatal: 1, silent: 1 };

/**
 * Runs `work` on this deployment, migrated as `npm start` would: joins the embedded database that runs in the data folder, or starts
 * it for this call. Gives everything back, whatever happens.
 */
export async function withService<T>(work: (service: Service) => Promise<T>): Promise<T> {
  const { config, log } = readEnvironment();
  return untilInterrupted(async (interrupted) => {
    const { service, stop } = await startService(config, { migrate: true, log });
    try {
      // One that came during the start: nothing begins any more.
      await Promise.race([interrupted, Promise.resolve()]);
      return await Promise.race([work(service), interrupted]);
    } finally {
      await stop();
    }
  });
}

/** Turns Ctrl-C and SIGTERM into a rejection of the promise that `work` gets, so that what was started is given back first. */
export async function untilInterrupted<T>(work: (interrupted: Promise<never>) => Promise<T>): Promise<T> {
  const release = new AbortController();
  const interrupted = new Promise<never>((_, reject) => {
    const onSignal = () => reject(new CommandError("interrupted", "Interrupted."));
    for (const signal of signals) process.once(signal, onSignal);
    release.signal.addEventListener("abort", () => {
      for (const signal of signals) process.off(signal, onSignal);
    });
  });
  // Nobody may be listening yet when it comes.
  interrupted.catch(() => undefined);
  try {
    return await work(interrupted);
  } finally {
    release.abort();
  }
}

const signals = ["SIGINT", "SIGTERM"] as const;
