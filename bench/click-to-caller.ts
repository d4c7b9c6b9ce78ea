import { setTimeout as delay } from "node:timers/promises";
import type { Connection } from "./connection";
import { ms } from "./figure";
import { quantile } from "./load";
import type { Sent } from "./send";

/** One click, and the caller who learns of it: `parked` before it, or who `asks` at once when the click is answered. */
export type Click = {
  click: Sent;
  clicked: number;
  caller: Sent;
  how: "parked" | "asks";
  expected: string;
};

/**
 * Milliseconds from the moment the click is sent to the moment the caller has its answer, on connections that are open.
 * Throws where the click or the caller was answered otherwise.
 */
export async function clickToCaller(
  [caller, browser]: readonly [Connection, Connection],
  { click, clicked, caller: asked, how, expected }: Click,
): Promise<number> {
  const isParked = how === "parked";
  const waiting = isParked ? ask(caller, asked) : undefined;
  // Awaited only after the click: until then a failure must not end the process without its clean-up.
  waiting?.catch(() => undefined);
  // Long enough for the wait to be parked: what is measured is waking, not arriving.
  if (isParked) await delay(15);
  const clickedAt = performance.now();
  const clicking = browser.ask(click);
  clicking.catch(() => undefined);
  if (!isParked) await clicking;
  const { text, at } = await (waiting ?? ask(caller, asked));
  const answer = await clicking;
  if (answer.status !== clicked) throw new Error(`the click was answered ${answer.status}: ${answer.text}`);
  if (!text.includes(expected)) throw new Error(`the caller was answered ${text}`);
  return at - clickedAt;
}

async function ask(connection: Connection, sent: Sent): Promise<{ text: string; at: number }> {
  const { text } = await connection.ask(sent);
  return { text, at: performance.now() };
}

export const describeTimes = (values: number[]): string =>
  `p50 ${ms(quantile(values, 0.5))}, p99 ${ms(quantile(values, 0.99))}`;
