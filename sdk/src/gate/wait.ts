import { setTimeout as delay } from "node:timers/promises";
import type { StatusAnswer } from "../api-types";
import { CountersignError } from "../errors";
import { toNotRun } from "./endings";
import type { GuardedCall } from "./guarded-call";
import { waitingText } from "./texts";

const LEG_SECONDS = 20;
const PAUSE_MS = 500;
const MAX_FAILURES = 4;
/** How far apart it asks where the service parks no more of this client's waits. */
const POLL_MS = 1_000;

/**
 * Waits until the approval is decided or over, at most until `untilMs` (a `performance.now()` instant); then it may still be
 * pending. A service that is away for a few seconds, e.g. to restart, costs no more than that; one that parks no more waits is polled.
 * @throws NotRun `interrupted` when the signal aborts, `unreachable` when the service stays away
 */
export async function waitForDecision(
  call: GuardedCall,
  id: string,
  { signal, untilMs = Number.POSITIVE_INFINITY }: { signal: AbortSignal; untilMs?: number },
): Promise<StatusAnswer> {
  let isCrowded = false;
  for (let failures = 0; ; ) {
    const leftSeconds = Math.max(0, Math.ceil((untilMs - performance.now()) / 1000));
    const startedMs = performance.now();
    try {
      const answer = await call.parts.api.wait(id, {
        seconds: isCrowded ? 0 : Math.min(LEG_SECONDS, leftSeconds),
        signal,
      });
      failures = 0;
      isCrowded = false;
      if (answer.next !== "wait" || performance.now() + PAUSE_MS >= untilMs) return answer;
    } catch (error) {
      isCrowded = error instanceof CountersignError && error.code === "too_many_waits";
      failures += isCrowded ? 0 : 1;
      if (!isCrowded && (!isPassing(error) || failures > MAX_FAILURES)) throw toNotRun(error, id);
    }
    if (!signal.aborted) await call.mcp.reportProgress(waitingText(call.parts.settings.locale));
    // A service that shuts down answers `pending` at once; it must not be asked in a tight loop.
    if (isCrowded) await pause(POLL_MS, signal, id);
    else if (performance.now() - startedMs < PAUSE_MS) await pause(PAUSE_MS, signal, id);
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof CountersignError && (error.code === "unreachable" || error.status >= 500);
}

async function pause(ms: number, signal: AbortSignal, id: string): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch {
    throw toNotRun(new CountersignError("aborted"), id);
  }
}
