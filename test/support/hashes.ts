import type { Waiting } from "@/lib/passwords/gate";

/** What the gate of `lib/passwords` shares between the two bundles of a process. */
const slot = Symbol.for("countersign.passwords");
type Gate = { running: number } & Record<Waiting, (() => void)[]>;
type Holder = { [slot]?: Gate };

/** Counts how many passwords are hashed while `work` runs: how often the gate lets one in or makes one wait. */
export async function countHashes<T>(work: () => Promise<T>): Promise<{ result: T; hashes: number }> {
  let hashes = 0;
  let running = 0;
  const queue = () => {
    const waiting: (() => void)[] = [];
    const push = waiting.push.bind(waiting);
    const value = (next: () => void) => {
      hashes += 1;
      return push(next);
    };
    return Object.defineProperty(waiting, "push", { value });
  };
  const gate: Gate = {
    get running() {
      return running;
    },
    set running(count) {
      if (count > running) hashes += 1;
      running = count;
    },
    known: queue(),
    stranger: queue(),
  };
  return { result: await withGate(gate, work), hashes };
}

/** Runs `work` while so many others sign in that no more passwords are verified. */
export function withFullGate<T>(work: () => Promise<T>): Promise<T> {
  const full = () => Array.from({ length: 50 }, () => () => undefined);
  return withGate({ running: 2, known: full(), stranger: full() }, work);
}

async function withGate<T>(gate: Gate, work: () => Promise<T>): Promise<T> {
  const holder = globalThis as Holder;
  const before = holder[slot];
  holder[slot] = gate;
  try {
    return await work();
  } finally {
    if (before) holder[slot] = before;
    else delete holder[slot];
  }
}
