import { Counter, Histogram, type Registry } from "prom-client";
import { type ProblemCode, problems } from "../problem";
import { eventTypes } from "../webhooks/event";

/** What came of an attempt, as `AttemptResult` names it. */
const attemptResults = ["delivered", "failed", "gone", "refused"] as const;
const mintings = ["minted", "reused", "replayed"] as const;
const throttles = ["password", "api_key"] as const;
const methods = new Set(["GET", "POST"]);
const countedEvents = new Set<string>(eventTypes);

/**
 * What is counted where it happens. Labels come from closed sets alone, and all but those of routes and jobs stand at 0 from the beginning: the
 * first of its kind is a rise from 0 then, and not a series that was not there before, in which an alarm sees none.
 */
export function createCounters(registry: Registry): Counters {
  const registers = [registry];
  const requests = new Histogram({
    name: "countersign_http_request_seconds",
    help: "Requests by method, route and status class, from their first byte to the end of the answer; parked waits have a route of their own",
    labelNames: ["method", "route", "status"] as const,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30, 60],
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
  for (const result of attemptResults) attempts.zero({ result });
  const countProblem = counter(registry, "code", Object.keys(problems), {
    name: "countersign_problems_total",
    help: "Refusals of the machine API by problem code",
  });
  const countEvents = counter(registry, "type", eventTypes, {
    name: "countersign_events_total",
    help: "Events of approvals and clients that this process handed out, by type; all processes together count each once",
  });
  const countMint = counter(registry, "how", mintings, {
    name: "countersign_mints_total",
    help: "Answered mints: made, an equal one that was live, or the same request again",
  });
  const countThrottled = counter(registry, "what", throttles, {
    name: "countersign_throttled_total",
    help: "Attempts that were told to wait, by what they guessed at",
  });
  return {
    observeRequest: (method = "", route, status, seconds) =>
      requests.observe(
        { method: methods.has(method) ? method : "other", route, status: `${Math.floor(status / 100)}xx` },
        seconds,
      ),
    countProblem,
    // A type is a column, and rows are not trusted (I17).
    countEvents: (type, count) => countEvents(countedEvents.has(type) ? type : "other", count),
    countMint,
    countThrottled,
    observeJob: (job, ok, seconds) => jobs.observe({ job, ok: String(ok) }, seconds),
    observeAttempt: (result, seconds) => attempts.observe({ result }, seconds),
  };
}

/** None of these fails, waits or reads anything; durations are in seconds. */
export type Counters = {
  /** `route` as `routeLabel` gives it. */
  observeRequest(method: string | undefined, route: string, status: number, seconds: number): void;
  countProblem(code: ProblemCode): void;
  countEvents(type: string, count: number): void;
  countMint(how: (typeof mintings)[number]): void;
  countThrottled(what: (typeof throttles)[number]): void;
  /** `job` is a name that the code gives. */
  observeJob(job: string, ok: boolean, seconds: number): void;
  observeAttempt(result: (typeof attemptResults)[number], seconds: number): void;
};

function counter(
  registry: Registry,
  label: string,
  values: readonly string[],
  words: { name: string; help: string },
): (value: string, count?: number) => void {
  const made = new Counter({ ...words, labelNames: [label], registers: [registry] });
  for (const value of values) made.inc({ [label]: value }, 0);
  return (value, count = 1) => made.inc({ [label]: value }, count);
}
