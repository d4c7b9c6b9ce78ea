import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import pg from "pg";
import { mintBody, mintCall } from "./calls";
import { describeTimes } from "./click-to-caller";
import { compare } from "./compare";
import { type Figure, times } from "./figure";
import { installPeers } from "./install-peers";
import { quantile } from "./load";
import { personNumber } from "./measure-api";
import { clicksInTurns } from "./measure-click";
import { type Peer, type PeerName, peers } from "./peer-calls";
import { send } from "./send";
import { at, type BenchStage } from "./stage";
import { type Started, startScript } from "./start-script";

/**
 * Mint against how a peer makes something durable that waits for a human, then the click in both; the peer in processes of its own, with a
 * database of its own in the cluster that Countersign uses.
 */
export const measurePeer =
  (name: PeerName) =>
  async (stage: BenchStage): Promise<Figure[]> => {
    const peer = peers[name];
    await installPeers();
    const dataDir = await mkdtemp(path.join(tmpdir(), "countersign-bench-peer-"));
    stage.onStop(() => rm(dataDir, { recursive: true, force: true }));
    const DATABASE_URL = await createDatabase(stage, `peer_${name}`);
    const started = await startScript(peer.script, {
      env: { ...peer.env, DATABASE_URL, PEER_DATA_DIR: dataDir },
      logFile: stage.otherLogFile,
    });
    stage.onStop(() => started.stop());
    return [await compareMint(stage, peer, started), await compareClick(stage, peer, started)];
  };

function compareMint(stage: BenchStage, peer: Peer, started: Started): Promise<Figure> {
  return compare(`mint, against ${peer.title}`, {
    rounds: 6,
    perRound: 500,
    bar: "above 1 ×",
    subject: {
      pids: [stage.server.pid],
      status: 201,
      make: (i) => mintCall(at(stage.clients, 0), personNumber(stage, i)),
    },
    baseline: {
      pids: started.pids,
      status: peer.create.status,
      make: (i) => peer.create.send(started.url, i, mintBody(personNumber(stage, i))),
    },
  });
}

/** Numbers that the rounds of `compare` do not reach: a key is used once. */
const firstClick = 1_000_000;

async function compareClick(stage: BenchStage, peer: Peer, { url }: Started): Promise<Figure> {
  const { ours, theirs } = await clicksInTurns(stage, url, {
    warmUp: 50,
    samples: 200,
    other: async (i) => {
      const number = firstClick + i;
      const answer = await send(peer.create.send(url, number, mintBody(at(stage.people, i))));
      const id = peer.create.id(answer.bytes.toString(), number);
      const { how, expected } = peer.learn;
      return {
        click: peer.decide.send(url, id),
        clicked: peer.decide.status,
        caller: peer.learn.send(url, id),
        how,
        expected,
      };
    },
  });
  return {
    name: `click → caller, against ${peer.title}${peer.learn.how === "asks" ? ", whose caller asks at once" : ""}`,
    value: describeTimes(ours),
    baseline: describeTimes(theirs),
    ratio: times(quantile(ours, 0.5) / quantile(theirs, 0.5)),
  };
}

async function createDatabase(stage: BenchStage, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: stage.databaseUrl });
  await client.connect();
  await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`).finally(() => client.end());
  const url = new URL(stage.databaseUrl);
  url.pathname = `/${name}`;
  return url.href;
}
