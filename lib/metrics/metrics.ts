import type pg from "pg";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { KeyRing } from "../keys/key-ring";
import type { WaitHub } from "../waits/hub";
import { addDatabaseGauges } from "./database-gauges";

/**
 * What one process counts, in a registry of its own (Prometheus exposition format 0.0.4). Labels come from closed sets alone: no id, no name
 * and nothing that a client or a person chose, so their number is bounded and they tell nothing of anybody.
 */
export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Histogram({
    name: "countersign_http_request_seconds",
    help: "Requests by route and status class, from their first byte to the end of the answer; parked waits have a route of their own",
    labelNames: ["route", "status"] as const,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30, 60],
    registers,
  });
  const problems = new Counter({
    name: "countersign_problems_total",
    help: "Refusals of the machine API by problem code",
    labelNames: ["code"] as const,
    registers,
  });
  const events = new Counter({
    name: "countersign_events_total",
    help: "Events of approvals and clients that this process handed out, by type; all processes together count each once",
    labelNames: ["type"] as const,
    registers,
  });
  const mints = new Counter({
    name: "countersign_mints_total",
    help: "Answered mints: made, an equal one that was live, or the same request again",
    labelNames: ["how"] as const,
    registers,
  });
  const jobs = new Histogram({
    name: "countersign_job_seconds",
    help: "Background steps by job and whether they succeeded",
    labelNames: ["job", "ok"] as const,
    buckets: [0.005, 0.05, 0.5, 5],
    registers,
  });
  const attempts = new Histogram({
    name: "countersign_webhook_attempt_seconds",
    help: "Attempts of deliveries by what came of them",
    labelNames: ["result"] as const,
    buckets: [0.05, 0.25, 1, 5, 15],
    registers,
  });
  addProcessGauges(registry, sources);
  addDatabaseGauges(registry, sources.pool);
  let hasDefaults = false;
  return {
    observeRequest: (route, status, seconds) =>
      requests.observe({ route, status: `${Math.floor(status / 100)}xx` }, seconds),
    countProblem: (code) => problems.inc({ code }),
    countEvents: (type, count) => events.inc({ type }, count),
    countMint: (how) => mints.inc({ how }),
    observeJob: (job, ok, seconds) => jobs.observe({ job, ok: String(ok) }, seconds),
    observeAttempt: (result, seconds) => attempts.observe({ result }, seconds),
    scrape: async () => {
      // They watch the event loop from then on: only where somebody looks.
      if (!hasDefaults) collectDefaultMetrics({ register: registry });
      hasDefaults = true;
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };
}

/** What is looked at when somebody scrapes. */
export type MetricSources = {
  version: string;
  pool: pg.Pool;
  hub: Pick<WaitHub, "parkedCount">;
  keys: Pick<KeyRing, "canSign">;
  /** The connection that wakes parked waits. */
  listening: { isUp(): boolean } | undefined;
};

export type Metrics = {
  observeRequest(route: string, status: number, seconds: number): void;
  countProblem(code: string): void;
  countEvents(type: string, count: number): void;
  countMint(how: string): void;
  observeJob(job: string, ok: boolean, seconds: number): void;
  observeAttempt(result: string, seconds: number): void;
  scrape(): Promise<{ contentType: string; body: string }>;
};

function addProcessGauges(registry: Registry, sources: MetricSources): void {
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  gauge("countersign_parked_waits", "Waits that are parked in this process", () => sources.hub.parkedCount());
  gauge("countersign_listening", "1 while the connection that wakes parked waits is up", () =>
    Number(sources.listening?.isUp() ?? false),
  );
  gauge("countersign_can_sign", "1 while a signing key can sign", () => Number(sources.keys.canSign()));
  new Gauge({ name: "countersign_build_info", help: "The version", labelNames: ["version"], registers }).set(
    { version: sources.version },
    1,
  );
  new Gauge({
    name: "countersign_database_connections",
    help: "Connections of this process's pool, and requests that wait for one",
    labelNames: ["state"],
    registers,
    collect() {
      const { totalCount, idleCount, waitingCount } = sources.pool;
      this.set({ state: "busy" }, totalCount - idleCount);
      this.set({ state: "idle" }, idleCount);
      this.set({ state: "waited_for" }, waitingCount);
    },
  });
}
