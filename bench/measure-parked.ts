import { setTimeout as delay } from "node:timers/promises";
import { mintOne, readCall } from "./calls";
import { clickCall } from "./click";
import { type Connection, openConnection } from "./connection";
import { type Figure, ms } from "./figure";
import { load } from "./load";
import { openFiles, residentMb } from "./process-usage";
import { at, type BenchClient, type BenchPerson, type BenchStage } from "./stage";

const waits = 5_000;
const perClient = 500;
const released = 1_000;

type Asked = { id: string; client: BenchClient; person: BenchPerson };
type Parked = { answer: Promise<{ text: string; at: number }>; connection: Connection };

/**
 * Memory of the process with 5,000 callers parked, each on an approval and a connection of its own, over what it took just started and
 * warmed up; then how long clicks on 1,000 of them take until the last of these callers is answered. Ten clients.
 */
export async function measureParked(stage: BenchStage): Promise<Figure> {
  const asked: Asked[] = [];
  for (let i = 0; i < waits; i += 1) {
    const [client, person] = [at(stage.clients, Math.floor(i / perClient)), at(stage.people, i)];
    asked.push({ id: await mintOne(client, person), client, person });
  }
  // What minting left in the heap would hide what waiting takes.
  await stage.restartServer();
  const { pid, url } = stage.server;
  await load(500, 8, 200, (i) => readCall(at(asked, i).client, at(asked, i).id));
  const idleMb = await steadyMb(pid);
  const idleFiles = openFiles(pid);
  const parked = await parkAll(url, asked);
  const parkedMb = await steadyMb(pid);
  const sockets = openFiles(pid) - idleFiles;
  if (sockets < waits) throw new Error(`only ${sockets} callers are connected`);
  const releasedMs = await release(stage, asked.slice(0, released), parked);
  for (const { connection } of parked) connection.close();
  return {
    name: "5,000 parked waits",
    value: `${Math.round(parkedMb - idleMb)} MB over ${Math.round(idleMb)} MB idle; 1,000 clicks, 8 at once, released their callers in ${ms(releasedMs)}`,
    baseline: "–",
    ratio: "bar: 200 MB over idle",
  };
}

async function parkAll(url: string, asked: Asked[]): Promise<Parked[]> {
  const parked: Parked[] = [];
  for (const { id, client } of asked) {
    const connection = await openConnection(url);
    const answer = connection.ask(readCall(client, id, 55)).then(({ text }) => ({ text, at: performance.now() }));
    // Those that are never released end with their connection.
    answer.catch(() => undefined);
    parked.push({ answer, connection });
  }
  return parked;
}

async function release(stage: BenchStage, asked: Asked[], parked: Parked[]): Promise<number> {
  const clicks = await Promise.all(
    asked.map(({ id, person }) => clickCall(stage.service, person, stage.server.url, id)),
  );
  const answered = await Promise.race([Promise.any(parked.map(({ answer }) => answer)), delay(0)]);
  if (answered) throw new Error(`a caller did not wait: ${answered.text}`);
  const startedAt = performance.now();
  await load(clicks.length, 8, 303, (i) => at(clicks, i));
  const answers = await Promise.all(parked.slice(0, clicks.length).map(({ answer }) => answer));
  if (!answers.every(({ text }) => text.includes('"accepted"'))) throw new Error("a click did not release its caller");
  return Math.max(...answers.map((answer) => answer.at)) - startedAt;
}

/** The process's memory once it has moved by less than 1 MB three times in a row, every half second. */
async function steadyMb(pid: number): Promise<number> {
  let last = 0;
  for (let still = 0; still < 3; ) {
    await delay(500);
    const now = residentMb(pid);
    still = Math.abs(now - last) > 1 ? 0 : still + 1;
    last = now;
  }
  return last;
}
