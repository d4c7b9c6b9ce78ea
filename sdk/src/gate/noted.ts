/** Things that were noted under a key, each for a while; of this process alone. */
export type Noted<T> = {
  note(key: string, thing: T): void;
  /** What was noted under the key within the last `seconds`, the oldest first. */
  of(key: string): T[];
};

const MAX_KEYS = 10_000;

/** The oldest keys go when there are too many, so that nobody can fill the memory with them. */
export function createNoted<T>(seconds: number, maxPerKey: number): Noted<T> {
  const entries = new Map<string, { thing: T; atMs: number }[]>();
  const fresh = (key: string) =>
    (entries.get(key) ?? []).filter(({ atMs }) => atMs > performance.now() - seconds * 1000);
  return {
    note(key, thing) {
      const kept = [...fresh(key), { thing, atMs: performance.now() }].slice(-maxPerKey);
      entries.delete(key);
      entries.set(key, kept);
      const oldest = entries.keys().next();
      if (entries.size > MAX_KEYS && !oldest.done) entries.delete(oldest.value);
    },
    of: (key) => fresh(key).map(({ thing }) => thing),
  };
}
