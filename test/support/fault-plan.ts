import { createHash } from "node:crypto";
import { createRandom, type Random } from "./fault-random";
import type { RequestKind } from "./fault-request-kind";

/** What is meant to become of a run; faults may make an end of it that is not meant, but none that is not allowed. */
export type Story =
  | "runs"
  | "tool_fails"
  | "declined"
  | "cancelled"
  | "expires"
  | "taken_back"
  | "lapses"
  | "withdrawn_pending"
  | "withdrawn_accepted"
  | "dies_before_run"
  | "dies_after_run";

export type RunPlan = {
  run: number;
  story: Story;
  client: number;
  person: number;
  /** How a mint is made safe to repeat: by the kit's `reuse: "live"`, or by one Idempotency-Key over all tries. */
  repeatsBy: "reuse" | "idempotency_key";
  matchCode: boolean;
  /** Attempts to run it at the same time, as replicas of an MCP server or a chat app that sends a call twice would make. */
  attempts: 1 | 2 | 3;
  /** How long the person reads, beyond the second that the page asks for. */
  readsForMs: number;
};

export type Fault = {
  kind: "kill" | "freeze" | "cut_request" | "cut_response" | "stop_database" | "kill_database";
  /** Comes with the `nth` request of this kind… */
  on: RequestKind | "delivery";
  nth: number;
  /** …so much later. */
  afterMs: number;
  /** Of a freeze. */
  forMs: number;
};

export type FaultPlan = { seed: number; digest: string; runs: RunPlan[]; faults: Fault[] };

export const clientCount = 3;
export const personCount = 24;

/** The whole of what is done and what is done to it: the same for the same seed and number of runs. */
export function planFaults(seed: number, runCount: number): FaultPlan {
  const runs = planRuns(createRandom(seed, "runs"), runCount);
  const faults = planBlows(createRandom(seed, "faults"), runCount);
  const digest = createHash("sha256").update(JSON.stringify({ runs, faults })).digest("hex").slice(0, 16);
  return { seed, digest, runs, faults };
}

const shares: Record<Story, number> = {
  runs: 55,
  tool_fails: 6,
  declined: 8,
  cancelled: 7,
  expires: 5,
  taken_back: 5,
  lapses: 3,
  withdrawn_pending: 3,
  withdrawn_accepted: 3,
  dies_before_run: 2.5,
  dies_after_run: 2.5,
};

function planRuns(random: Random, runCount: number): RunPlan[] {
  // At least one of each: what is never done is never proved.
  const rare = (Object.entries(shares) as [Story, number][]).flatMap(([story, share]) =>
    story === "runs" ? [] : Array.from({ length: Math.max(1, Math.round((share * runCount) / 100)) }, () => story),
  );
  const rest = Array.from({ length: Math.max(0, runCount - rare.length) }, (): Story => "runs");
  return random.shuffled([...rare, ...rest].slice(0, runCount)).map((story, run) => ({
    run,
    story,
    client: random.whole(0, clientCount - 1),
    person: random.whole(0, personCount - 1),
    repeatsBy: random.chance(0.5) ? "reuse" : "idempotency_key",
    matchCode: random.chance(0.5),
    attempts: story === "runs" && random.chance(0.3) ? (random.chance(0.5) ? 2 : 3) : 1,
    readsForMs: random.whole(0, 800),
  }));
}

/** How many requests of a kind a run makes at least, on average, when nothing goes wrong. */
const requestsPerRun: Record<Fault["on"], number> = {
  mint: 1,
  page: 1.8,
  wait: 0.9,
  decision: 0.85,
  consume: 0.75,
  outcome: 0.6,
  withdraw: 0.05,
  take_back: 0.04,
  keys: 0.7,
  delivery: 1.8,
  other: 0,
};

const killedAt: Fault["on"][] = [
  "mint",
  "wait",
  "page",
  "decision",
  "consume",
  "outcome",
  "withdraw",
  "take_back",
  "delivery",
];
const cutInRequestAt: Fault["on"][] = ["mint", "wait", "page", "decision", "consume", "outcome", "keys"];
/** The answers that say that something was done count double: losing one is what makes callers do it again. */
const done: Fault["on"][] = ["mint", "consume", "decision", "outcome"];
const cutInAnswerAt: Fault["on"][] = [...done, ...done, "wait", "page", "keys", "withdraw", "take_back"];
const stoppedAt: Fault["on"][] = ["consume", "mint", "decision", "outcome", "wait", "delivery"];

function planBlows(random: Random, runCount: number): Fault[] {
  const many = (per500: number, atLeast: number) => Math.max(atLeast, Math.round((per500 * runCount) / 500));
  const blows = (kind: Fault["kind"], count: number, places: Fault["on"][]) =>
    Array.from({ length: count }, (_, i): Fault => {
      const on = places[i % places.length] ?? "mint";
      const expected = Math.max(1, Math.floor(requestsPerRun[on] * runCount));
      return {
        kind,
        on,
        nth: random.whole(Math.ceil(expected * 0.02), Math.max(1, Math.floor(expected * 0.85))),
        // Most steps take a few milliseconds; a blow is to fall before, in and after them.
        afterMs: random.chance(0.7) ? random.whole(0, 5) : random.whole(0, 40),
        forMs: kind !== "freeze" ? 0 : random.chance(0.2) ? random.whole(11_000, 13_000) : random.whole(1_000, 5_000),
      };
    });
  return [
    ...blows("kill", many(36, killedAt.length), killedAt),
    ...blows("freeze", many(8, 2), random.shuffled(stoppedAt)),
    ...blows("stop_database", many(4, 1), random.shuffled(stoppedAt)),
    ...blows("kill_database", many(3, 1), random.shuffled(stoppedAt)),
    ...blows("cut_request", many(21, cutInRequestAt.length), cutInRequestAt),
    ...blows("cut_response", many(52, cutInAnswerAt.length), cutInAnswerAt),
  ];
}
