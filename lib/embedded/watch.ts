import { setTimeout as delay } from "node:timers/promises";
import type { Postmaster } from "./postmaster";
import { isAlive } from "./process-stamp";

const LOOK_MS = 1_000;
const LOOK_AFTER_FAILURE_MS = 10_000;

/**
 * Looks every second whether the server still runs and calls `revive` when it does not; when that fails, again 10 s later.
 * Does not keep the process alive. The returned function ends it and resolves when nothing is under way any more.
 */
export function watch(
  first: Postmaster,
  revive: () => Promise<Postmaster>,
  onFailure: (error: unknown) => void,
): () => Promise<void> {
  const abort = new AbortController();
  const loop = async () => {
    let current = first;
    let pauseMs = LOOK_MS;
    while (await pause(pauseMs, abort.signal)) {
      pauseMs = LOOK_MS;
      if (await isAlive(current)) continue;
      try {
        current = await revive();
      } catch (error) {
        onFailure(error);
        pauseMs = LOOK_AFTER_FAILURE_MS;
      }
    }
  };
  const done = loop();
  return async () => {
    abort.abort();
    await done;
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  return delay(ms, true, { ref: false, signal }).catch(() => false);
}
