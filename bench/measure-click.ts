import { setTimeout as delay } from "node:timers/promises";
import { mintOne, readCall } from "./calls";
import { clickCall } from "./click";
import { type Connection, openConnection } from "./connection";
import { type Figure, ms, times } from "./figure";
import { quantile } from "./load";
import { insertOne } from "./measure-api";
import type { Sent } from "./send";
import { at, type BenchStage } from "./stage";

const warmUp = 100;
const samples = 400;

/**
 * From the moment the click is sent to the moment the waiting caller has its answer, one after another; against a bare server that does
 * one UPDATE and then answers the caller that it holds in memory.
 */
export async function measureClick(stage: BenchStage): Promise<Figure> {
  const ours = [await openConnection(stage.server.url), await openConnection(stage.server.url)] as const;
  const bare = [await openConnection(stage.bare.url), await openConnection(stage.bare.url)] as const;
  const ourTimes: number[] = [];
  const bareTimes: number[] = [];
  for (let i = 0; i < warmUp + samples; i += 1) {
    const person = at(stage.people, i);
    const id = await mintOne(at(stage.clients, 1), person);
    const click = await clickCall(stage.service, person, stage.server.url, id);
    const took = await clickOnce(ours, readCall(at(stage.clients, 1), id, 30), click, '"accepted"');
    const bareId = await insertOne(stage);
    const bareWait = { method: "GET", url: `${stage.bare.url}/${bareId}/wait` };
    const bareClick = { ...click, url: `${stage.bare.url}/${bareId}/decision` };
    const bareTook = await clickOnce(bare, bareWait, bareClick, '"accept"');
    if (i >= warmUp) {
      ourTimes.push(took);
      bareTimes.push(bareTook);
    }
  }
  for (const connection of [...ours, ...bare]) connection.close();
  return {
    name: "click → caller",
    value: describe(ourTimes),
    baseline: describe(bareTimes),
    ratio: `${times(quantile(ourTimes, 0.5) / quantile(bareTimes, 0.5))}; bar: p50 5 ms, p99 25 ms`,
  };
}

async function clickOnce(
  [caller, browser]: readonly [Connection, Connection],
  wait: Sent,
  click: Sent,
  expected: string,
): Promise<number> {
  const answered = caller.ask(wait).then(({ text }) => ({ text, at: performance.now() }));
  // Awaited only after the click: until then a failure must not end the process without its clean-up.
  answered.catch(() => undefined);
  // Long enough for the wait to be parked: what is measured is waking, not arriving.
  await delay(15);
  const clickedAt = performance.now();
  const clicked = browser.ask(click);
  const { text, at: answeredAt } = await answered;
  if (!text.includes(expected)) throw new Error(`the caller was answered ${text}`);
  const { status } = await clicked;
  if (status !== 303) throw new Error(`the click was answered ${status}`);
  return answeredAt - clickedAt;
}

const describe = (values: number[]) => `p50 ${ms(quantile(values, 0.5))}, p99 ${ms(quantile(values, 0.99))}`;
