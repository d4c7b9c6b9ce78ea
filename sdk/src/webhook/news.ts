import type { WebhookEvent } from "./event";

type OrPromise<T> = T | Promise<T>;

/** What a receiver remembers: a number for each key, an approval's id or, of events that are about none, the event's own. */
export type NewsStore = {
  /** The highest number that was kept for the key. */
  highest(key: string): OrPromise<number | undefined>;
  /** Keeps the number where it is higher than the one that is kept: one atomic step, so that replicas can share the store. */
  raise(key: string, number: number): OrPromise<void>;
};

/** Events arrive at least once and in any order; this tells which of them say something new. */
export type News = {
  /** Of an approval's events one with a higher `approvalSeq` than any that is remembered; of others, one whose id is not. */
  isNews(event: WebhookEvent): Promise<boolean>;
  /** To be called when the work for an event is done, not before: what a crash leaves undone must be news again when it is sent again. */
  remember(event: WebhookEvent): Promise<void>;
};

/** With it every order and every repetition of an approval's events ends in the same state: that of the newest one. */
export function newerOnly(store: NewsStore = createNewsMemory()): News {
  return {
    async isNews(event) {
      const { key, number } = placeOf(event);
      return number > ((await store.highest(key)) ?? -1);
    },
    async remember(event) {
      const { key, number } = placeOf(event);
      await store.raise(key, number);
    },
  };
}

function placeOf(event: WebhookEvent): { key: string; number: number } {
  if (event.kind !== "approval") return { key: event.id, number: 0 };
  return { key: event.data.approvalId, number: event.data.approvalSeq };
}

const MAX_REMEMBERED = 10_000;

/** Remembers the last 10,000 keys in this process. After a restart everything is news again, which a wake-up can bear. */
export function createNewsMemory() {
  const numbers = new Map<string, number>();
  return {
    highest: (key: string) => numbers.get(key),
    raise(key: string, number: number) {
      if (number <= (numbers.get(key) ?? -1)) return;
      numbers.delete(key);
      numbers.set(key, number);
      const oldest = numbers.keys().next();
      if (numbers.size > MAX_REMEMBERED && !oldest.done) numbers.delete(oldest.value);
    },
  } satisfies NewsStore;
}
