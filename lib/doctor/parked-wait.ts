import { performance } from "node:perf_hooks";
import { withdraw } from "../approvals/withdraw";
import type { Service } from "../process";
import { ask, objectIn } from "./ask";
import { type Check, check } from "./check";
import type { Scratch } from "./scratch";

/** Holds a wait for that long at the address, then another that is ended early: a proxy may cut, and may hold back, what takes long. */
export function checkParkedWait(service: Service, scratch: Scratch, url: string, waitSeconds = 30): Promise<Check> {
  return check("parked wait", async (found) => {
    const { id } = await scratch.ask();
    const path = `${url}/api/v1/approvals/${id}?wait=${waitSeconds}`;
    const options = { headers: { authorization: `Bearer ${scratch.apiKey}` }, timeoutMs: (waitSeconds + 15) * 1_000 };
    const whole = await timed(() => ask(path, options));
    if (whole.answer.status === 404 || whole.answer.status === 401)
      throw new Error(elsewhere(url, whole.answer.status));
    if (whole.answer.status !== 200 || whole.seconds < waitSeconds - 1)
      found.failures.push(
        `A wait of ${waitSeconds} s ended after ${whole.seconds.toFixed(0)} s with ${whole.answer.status}: let the proxy wait 60 s or longer for an answer.`,
      );
    const early = timed(() => ask(path, options));
    const parked = new Promise((resolve) => setTimeout(resolve, 1_000));
    await Promise.race([parked, early]);
    await withdraw(service, scratch.key, id, "aborted");
    const { answer, seconds } = await early;
    if (objectIn(answer)?.["status"] !== "withdrawn" || seconds > 10)
      found.failures.push(
        `A wait that should have ended after a second took ${seconds.toFixed(0)} s (${answer.status}): the proxy must not hold answers back.`,
      );
    found.facts.push(`Held for ${waitSeconds} s, and ended at once when there was news.`);
  });
}

async function timed<T>(work: () => Promise<T>): Promise<{ answer: T; seconds: number }> {
  const startedAt = performance.now();
  const answer = await work();
  return { answer, seconds: (performance.now() - startedAt) / 1_000 };
}

const elsewhere = (url: string, status: number) =>
  status === 404
    ? `The API is not at ${url} (SURFACES), or another deployment is: give the address of its listener with --url.`
    : `The scratch key is not known at ${url}: another deployment answers there.`;
