import { mintOne, readCall } from "./calls";
import { clickCall } from "./click";
import { type Click, clickToCaller, describeTimes } from "./click-to-caller";
import { openConnection } from "./connection";
import { type Figure, times } from "./figure";
import { quantile } from "./load";
import { insertOne } from "./measure-api";
import { at, type BenchStage } from "./stage";

const warmUp = 100;
const samples = 400;

/**
 * From the moment the click is sent to the moment the waiting caller has its answer, one after another; against a bare server that does
 * one UPDATE and then answers the caller that it holds in memory.
 */
export async function measureClick(stage: BenchStage): Promise<Figure> {
  const { ours, theirs } = await clicksInTurns(stage, stage.bare.url, {
    warmUp,
    samples,
    other: async (i) => {
      const id = await insertOne(stage);
      const { click } = await ourClick(stage, i);
      return {
        click: { ...click, url: `${stage.bare.url}/${id}/decision` },
        clicked: 303,
        caller: { method: "GET", url: `${stage.bare.url}/${id}/wait` },
        how: "parked",
        expected: '"accept"',
      };
    },
  });
  return {
    name: "click → caller",
    value: describeTimes(ours),
    baseline: describeTimes(theirs),
    ratio: `${times(quantile(ours, 0.5) / quantile(theirs, 0.5))}; bar: p50 5 ms, p99 25 ms`,
  };
}

/** The times of as many clicks here and there, in turns, without those that only warm up. */
export async function clicksInTurns(
  stage: BenchStage,
  otherUrl: string,
  options: { warmUp: number; samples: number; other(i: number): Promise<Click> },
): Promise<{ ours: number[]; theirs: number[] }> {
  const here = [await openConnection(stage.server.url), await openConnection(stage.server.url)] as const;
  const there = [await openConnection(otherUrl), await openConnection(otherUrl)] as const;
  const ours: number[] = [];
  const theirs: number[] = [];
  try {
    for (let i = 0; i < options.warmUp + options.samples; i += 1) {
      ours.push(await clickToCaller(here, await ourClick(stage, i)));
      theirs.push(await clickToCaller(there, await options.other(i)));
    }
  } finally {
    for (const connection of [...here, ...there]) connection.close();
  }
  return { ours: ours.slice(options.warmUp), theirs: theirs.slice(options.warmUp) };
}

async function ourClick(stage: BenchStage, i: number): Promise<Click> {
  const [client, person] = [at(stage.clients, 1), at(stage.people, i)];
  const id = await mintOne(client, person);
  return {
    click: await clickCall(stage.service, person, stage.server.url, id),
    clicked: 303,
    caller: readCall(client, id, 30),
    how: "parked",
    expected: '"accepted"',
  };
}
