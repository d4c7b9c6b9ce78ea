import { Problem } from "../problem";

/** Argon2 takes 19 MiB and a core for tens of milliseconds: more at once would starve everything else. */
const runningMax = 2;
const waitingMax = 50;

const slot = Symbol.for("countersign.passwords");
type Gate = { running: number; waiting: (() => void)[] };

/**
 * Lets at most two hashes run at once and 50 wait, over both bundles of the process: the count lives where both see it.
 * Errors: `unavailable` when too many wait.
 */
export async function withHashSlot<T>(work: () => Promise<T>): Promise<T> {
  const holder = globalThis as { [slot]?: Gate };
  holder[slot] ??= { running: 0, waiting: [] };
  const gate = holder[slot];
  if (gate.running >= runningMax) {
    if (gate.waiting.length >= waitingMax)
      throw new Problem("unavailable", { detail: "Too many people are signing in." });
    await new Promise<void>((resolve) => gate.waiting.push(resolve));
  } else gate.running += 1;
  try {
    return await work();
  } finally {
    // The place is handed on, so it is not free in between.
    const next = gate.waiting.shift();
    if (next) next();
    else gate.running -= 1;
  }
}
