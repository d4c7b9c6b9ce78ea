import { consumeCall, kitMintCall, mintBody, mintCall, mintOne, readCall } from "./calls";
import { clickCall } from "./click";
import { compare, numbersFor, type Side } from "./compare";
import type { Figure } from "./figure";
import { load } from "./load";
import { type Sent, sendJson } from "./send";
import { at, type BenchStage } from "./stage";

const json = { "content-type": "application/json" };

/** Asking for a person, each time for another one, against one INSERT. */
export function measureMint(stage: BenchStage): Promise<Figure> {
  return compare("mint", {
    rounds: 6,
    perRound: 1_500,
    bar: "0.6 ×",
    subject: {
      pids: [stage.server.pid],
      status: 201,
      make: (i) => mintCall(at(stage.clients, 0), personNumber(stage, i)),
    },
    baseline: insertSide(stage),
  });
}

/** The same as the kit asks, which finds a live approval again and knows repetitions. */
export function measureKitMint(stage: BenchStage): Promise<Figure> {
  return compare("mint, as the kit asks", {
    rounds: 4,
    perRound: 1_000,
    subject: {
      pids: [stage.server.pid],
      status: 201,
      make: (i) => kitMintCall(at(stage.clients, 0), personNumber(stage, i)),
    },
    baseline: insertSide(stage),
  });
}

export const personNumber = (stage: BenchStage, i: number) => ({ iss: stage.service.issuer, sub: `mint-${i}` });

function insertSide(stage: BenchStage): Side {
  return { pids: stage.bare.pids, status: 201, make: (i) => insertCall(stage, personNumber(stage, i)) };
}

/** Reading a pending approval, against one SELECT by primary key. */
export async function measureStatus(stage: BenchStage): Promise<Figure> {
  const client = at(stage.clients, 0);
  const id = await mintOne(client, at(stage.people, 0));
  const bareId = await insertOne(stage);
  return compare("status poll", {
    rounds: 4,
    perRound: 2_000,
    subject: { pids: [stage.server.pid], status: 200, make: () => readCall(client, id) },
    baseline: {
      pids: stage.bare.pids,
      status: 200,
      make: () => ({ method: "GET", url: `${stage.bare.url}/${bareId}` }),
    },
  });
}

/** Consuming accepted approvals, against one UPDATE that compares and sets. */
export async function measureConsume(stage: BenchStage): Promise<Figure> {
  const [rounds, perRound] = [4, 400];
  const count = numbersFor(rounds, perRound);
  const client = at(stage.clients, 1);
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) ids.push(await mintOne(client, at(stage.people, i)));
  const clicks: Sent[] = [];
  for (const [i, id] of ids.entries())
    clicks.push(await clickCall(stage.service, at(stage.people, i), stage.server.url, id));
  await load(count, 4, 303, (i) => at(clicks, i));
  const bareIds: string[] = [];
  for (let i = 0; i < count; i += 1) bareIds.push(await insertOne(stage));
  return compare("consume", {
    rounds,
    perRound,
    subject: {
      pids: [stage.server.pid],
      status: 200,
      make: (i) => consumeCall(client, at(stage.people, i), at(ids, i)),
    },
    baseline: {
      pids: stage.bare.pids,
      status: 200,
      make: (i) => ({
        ...consumeCall(client, at(stage.people, i), at(ids, i)),
        url: `${stage.bare.url}/${at(bareIds, i)}/consume`,
        headers: json,
      }),
    },
  });
}

export async function insertOne(stage: BenchStage): Promise<string> {
  return (await sendJson<{ id: string }>(insertCall(stage, at(stage.people, 0)), 201)).id;
}

function insertCall(stage: BenchStage, subject: { iss: string; sub: string }): Sent {
  return { method: "POST", url: `${stage.bare.url}/`, headers: json, body: mintBody(subject) };
}
