import { eraseSettled } from "../approvals/erase-settled";
import { settleDue } from "../approvals/settle-due";
import { pruneFreezes } from "../clients/prune-freezes";
import { dropExpiredChallenges } from "../passkeys/challenge";
import { isConnectionLoss } from "../problem";
import type { Service } from "../process";
import { pruneSessions } from "../sessions/prune";
import { pruneThrottles } from "../throttle/prune";
import { startDelivering } from "../webhooks/deliver";
import { pruneEvents } from "../webhooks/prune";

/**
 * Does in the background what must happen without anybody asking: settles what is due each second, erases each 10 s, re-reads the
 * signing keys each 30 s, and delivers webhooks. Any number of workers may run over one database. `stop` waits for the step under way.
 */
export function startWorker(service: Service): { stop(): Promise<void> } {
  const jobs = [
    startDelivering(service),
    every(service, 1_000, "settle", () => settleDue(service)),
    every(service, 10_000, "erase", () => eraseSettled(service)),
    every(service, 60_000, "throttle", () => pruneThrottles(service.pool)),
    every(service, 60_000, "challenges", () => dropExpiredChallenges(service.pool)),
    every(service, 600_000, "sessions", () => pruneSessions(service.pool)),
    every(service, 600_000, "freezes", () => pruneFreezes(service.pool)),
    every(service, 60_000, "events", () => pruneEvents(service.pool)),
    every(service, 30_000, "keys", () => service.keys.refresh()),
  ];
  return {
    stop: async () => {
      await Promise.all(jobs.map((job) => job.stop()));
    },
  };
}

function every(
  service: Service,
  periodMs: number,
  name: string,
  step: () => Promise<unknown>,
): { stop(): Promise<void> } {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const tick = async () => {
    const startedAt = performance.now();
    const observe = (ok: boolean) => service.metrics.observeJob(name, ok, (performance.now() - startedAt) / 1000);
    try {
      await step();
      observe(true);
    } catch (error) {
      observe(false);
      const level = isConnectionLoss(error) ? "warn" : "error";
      service.log[level](
        { job: name, reason: (error as Error).message },
        "a background step failed; it is tried again",
      );
    }
    if (!isStopped) schedule();
  };
  const schedule = () => {
    timer = setTimeout(() => {
      running = tick();
    }, periodMs);
  };
  schedule();
  return {
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
