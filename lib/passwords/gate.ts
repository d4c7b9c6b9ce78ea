import { Problem } from "../problem";

/** Argon2 takes 19 MiB and a core for tens of milliseconds: more at once would starve everything else. */
const runningMax = 2;
/** In each of the two queues. */
const waitingMax = 50;

/** Who waits: somebody of whom something is known already (their session, their device, an admin), or anybody at all. */
export type Waiting = "known" | "stranger";

const slot = Symbol.for("countersign.passwords");
type Gate = { running: number } & Record<Waiting, (() => void)[]>;

/** How many hashes run in this process, and how many people wait for theirs. */
export function hashSlots(): { running: number; waiting: number } {
  const gate = (globalThis as { [slot]?: Gate })[slot];
  return { running: gate?.running ?? 0, waiting: (gate?.known.length ?? 0) + (gate?.stranger.length ?? 0) };
}

/**
 * Lets at most two hashes run at once and 50 wait of each kind, over both bundles of the process: the count lives where both see it. Those
 * who are known are served first, so that strangers, however many, keep none of them out. Errors: `unavailable` when too many wait.
 */
export async function withHashSlot<T>(who: Waiting, work: () => Promise<T>): Promise<T> {
  const holder = globalThis as { [slot]?: Gate };
  holder[slot] ??= { running: 0, known: [], stranger: [] };
  const gate = holder[slot];
  if (gate.running >= runningMax) {
    const queue = gate[who];
    if (queue.length >= waitingMax) throw new Problem("unavailable", { detail: "Too many people are signing in." });
    await new Promise<void>((resolve) => queue.push(resolve));
  } else gate.running += 1;
  try {
    return await work();
  } finally {
    // The place is handed on, so it is not free in between.
    const next = gate.known.shift() ?? gate.stranger.shift();
    if (next) next();
    else gate.running -= 1;
  }
}
