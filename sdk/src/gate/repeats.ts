import type { Ran } from "./run";

/** Writes that were made a moment ago, by their idempotency key. */
export type Repeats = {
  /** Runs, or gives what the first run of the same key gave, also while that one still runs. A failed run is not remembered. */
  once(key: string, seconds: number, run: () => Promise<Ran>): Promise<Ran & { repeated: boolean }>;
};

const MAX_KEYS = 10_000;

export function createRepeats(): Repeats {
  const runs = new Map<string, { ran: Promise<Ran>; untilMs: number }>();
  return {
    async once(key, seconds, run) {
      if (seconds === 0) return { ...(await run()), repeated: false };
      const known = runs.get(key);
      if (known !== undefined && known.untilMs > performance.now()) return { ...(await known.ran), repeated: true };
      const ran = run();
      runs.delete(key);
      runs.set(key, { ran, untilMs: performance.now() + seconds * 1000 });
      const oldest = runs.keys().next();
      if (runs.size > MAX_KEYS && !oldest.done) runs.delete(oldest.value);
      const done = await ran;
      if (done.outcome !== "succeeded") runs.delete(key);
      return { ...done, repeated: false };
    },
  };
}
