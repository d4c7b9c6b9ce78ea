import { createHash } from "node:crypto";

/** Numbers that follow from the seed and the label alone, so that a plan can be made again. */
export type Random = {
  /** In [0, 1). */
  next(): number;
  /** A whole number from `min` to `max`, both included. */
  whole(min: number, max: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  shuffled<T>(list: readonly T[]): T[];
};

/** A stream of its own for each label: what one part of a plan takes does not shift another part. */
export function createRandom(seed: number, label: string): Random {
  let state = createHash("sha256").update(`${seed}:${label}`).digest().readUInt32LE(0);
  // mulberry32: 32 bits of state are plenty for a plan.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    whole,
    chance: (probability) => next() < probability,
    pick: (list) => {
      if (list.length === 0) throw new Error("there is nothing to pick from");
      return list[whole(0, list.length - 1)] as (typeof list)[number];
    },
    shuffled: (list) =>
      list
        .map((item) => [next(), item] as const)
        .sort(([a], [b]) => a - b)
        .map(([, item]) => item),
  };
}
