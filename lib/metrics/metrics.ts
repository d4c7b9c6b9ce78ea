import type pg from "pg";
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { KeyRing } from "../keys/key-ring";
import { hashSlots } from "../passwords/gate";
import type { WaitHub } from "../waits/hub";
import type { WakeCounts } from "./count-wakes";
import { type Counters, createCounters } from "./counters";
import { addDatabaseGauges } from "./database-gauges";

/**
 * What one process counts, in a registry of its own (Prometheus exposition format 0.0.4). Labels come from closed sets alone: no id, no name
 * and nothing that a client or a person chose, so their number is bounded and they tell nothing of anybody.
 */
export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  const counters = createCounters(registry);
  addProcessGauges(registry, sources);
  addWaits(registry, sources);
  addPasswordGauge(registry);
  addDatabaseGauges(registry, sources.pool);
  let hasDefaults = false;
  return {
    ...counters,
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
  wakes: WakeCounts;
  /** The connection that wakes parked waits. */
  listening: { isUp(): boolean } | undefined;
};

export type Metrics = Counters & {
  /** The text of a scrape; answered within about 2 s, whatever the database does. */
  scrape(): Promise<{ contentType: string; body: string }>;
};

function addProcessGauges(registry: Registry, { version, pool, keys }: MetricSources): void {
  const registers = [registry];
  new Gauge({
    name: "countersign_can_sign",
    help: "1 while a signing key can sign",
    registers,
    collect() {
      this.set(Number(keys.canSign()));
    },
  });
  new Gauge({ name: "countersign_build_info", help: "The version", labelNames: ["version"], registers }).set(
    { version },
    1,
  );
  new Gauge({
    name: "countersign_database_connections",
    help: "Connections of this process's pool, and requests that wait for one",
    labelNames: ["state"],
    registers,
    collect() {
      const { totalCount, idleCount, waitingCount } = pool;
      this.set({ state: "busy" }, totalCount - idleCount);
      this.set({ state: "idle" }, idleCount);
      this.set({ state: "waited_for" }, waitingCount);
    },
  });
}

function addPasswordGauge(registry: Registry): void {
  new Gauge({
    name: "countersign_password_hashes",
    help: "Password hashes that run in this process, and people who wait for theirs",
    labelNames: ["state"],
    registers: [registry],
    collect() {
      for (const [state, count] of Object.entries(hashSlots())) this.set({ state }, count);
    },
  });
}

function addWaits(registry: Registry, { hub, wakes, listening }: MetricSources): void {
  const registers = [registry];
  new Gauge({
    name: "countersign_parked_waits",
    help: "Waits that are parked in this process",
    registers,
    collect() {
      this.set(hub.parkedCount());
    },
  });
  new Gauge({
    name: "countersign_listening",
    help: "1 while the connection that wakes parked waits is up",
    registers,
    collect() {
      this.set(Number(listening?.isUp() ?? false));
    },
  });
  new Counter({
    name: "countersign_wait_changes_total",
    help: "Changes of approvals that this process heard of by a notice, or that its sweep, which makes up for lost ones, found first",
    labelNames: ["by"],
    registers,
    collect() {
      this.reset();
      for (const [by, count] of Object.entries(wakes)) this.inc({ by }, count);
    },
  });
}
