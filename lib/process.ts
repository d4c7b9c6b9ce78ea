import type pg from "pg";
import type { ParkedApproval } from "./approvals/wait";
import type { ClientCache } from "./clients/cache";
import type { Config } from "./config";
import type { Database } from "./database/prisma";
import type { KeyRing } from "./keys/key-ring";
import type { Logger } from "./log";
import type { Metrics } from "./metrics/metrics";
import type { Secrets } from "./secrets/derive";
import type { Draining } from "./service/draining";
import type { Traces } from "./traces/traces";
import type { WaitHub } from "./waits/hub";
import type { Bell } from "./webhooks/bell";

/** What a running Countersign consists of. Every verb takes it first; nothing else is held at module level. */
export type Service = {
  config: Config;
  /** `iss` of everything this service signs, and of local accounts. Fixed at first start. */
  issuer: string;
  secrets: Secrets;
  pool: pg.Pool;
  prisma: Database;
  keys: KeyRing;
  clients: ClientCache;
  hub: WaitHub;
  /** The row of an approval that is waited for: those who wake together share one read, and what is answered by it. */
  readParked(id: string): Promise<ParkedApproval | undefined>;
  /** Rung after a commit that left an event in the outbox. */
  outbox: Bell;
  draining: Draining;
  metrics: Metrics;
  traces: Traces;
  log: Logger;
};

const slot = Symbol.for("countersign");
type Holder = { [slot]?: Service };

/**
 * The process's one service. The server's bundle and Next's bundle each hold a copy of every module, so the instance
 * lives on `globalThis`, where both halves see the same one.
 */
export function getService(): Service {
  const service = (globalThis as Holder)[slot];
  if (!service) throw new Error("the service is not started");
  return service;
}

/** Called once at start, by the entry of the process. */
export function setService(service: Service): void {
  (globalThis as Holder)[slot] = service;
}
