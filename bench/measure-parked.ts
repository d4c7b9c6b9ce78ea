import { setTimeout as delay } from "node:timers/promises";
import { mintOne, readCall } from "./calls";
import { clickCall } from "./click";
import { type Connection, openConnection } from "./connection";
import { type Figure, ms } from "./figure";
import { openFiles, residentMb } from "./process-usage";
import { send } from "./send";
import { at, type BenchStage } from "./stage";

const waits = 5_000;
const perClient = 500;
const released = 1_000;

/**
 * Memory of the process with 5,000 callers parked, over what it was idle, just started and warmed up with a few requests; then how long
 * the clicks on 1,000 of them take until the last of these callers is answered. Ten clients, one approval a wait.
 */
export async function measureParked(stage: BenchStage): Promise<Figure> {
  const { pid, url } = stage.server;
  const asked: { id: string; i: number }[] = [];
  for (let i = 0; i < waits; i += 1) asked.push({ id: await mintOne(clientOf(stage, i), at(stage.people, i)), i });
  await untilSteady(pid);
  const idleMb = residentMb(pid);
  const idleFiles = openFiles(pid);
  const connections: Connection[] = [];
  const answers: Promise<{ text: string; at: number }>[] = [];
  for (const { id, i } of asked) {
    const connection = await openConnection(url);
    connections.push(connection);
    answers.push(
      connection.ask(readCall(clientOf(stage, i), id, 55)).then(({ text }) => ({ text, at: performance.now() })),
    );
  }
  await untilSteady(pid);
  const parkedMb = residentMb(pid);
  const sockets = openFiles(pid) - idleFiles;
  if (sockets < waits - 100) throw new Error(`only ${sockets} callers are connected`);
  const clicks = await Promise.all(
    asked.slice(0, released).map(({ id, i }) => clickCall(stage.service, at(stage.people, i), url, id)),
  );
  const releasedAt = performance.now();
  const lanes = clicks.values();
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (const click of lanes) await send(click);
    }),
  );
  const done = await Promise.all(answers.slice(0, released));
  if (!done.every(({ text }) => text.includes('"accepted"'))) throw new Error("a caller was not released by its click");
  for (const answer of answers.slice(released)) answer.catch(() => undefined);
  for (const connection of connections) connection.close();
  return {
    name: "5,000 parked waits",
    value: `${Math.round(parkedMb - idleMb)} MB over ${Math.round(idleMb)} MB idle; 1,000 clicks released 1,000 callers in ${ms(Math.max(...done.map(({ at: answeredAt }) => answeredAt)) - releasedAt)}`,
    baseline: "–",
    ratio: "bar: 200 MB over idle",
  };
}

const clientOf = (stage: BenchStage, i: number) => at(stage.clients, 2 + Math.floor(i / perClient));

/** Until the process's memory has moved by less than 1 MB in a second and a half. */
async function untilSteady(pid: number): Promise<void> {
  for (let last = 0, still = 0; still < 3; ) {
    await delay(500);
    const now = residentMb(pid);
    still = Math.abs(now - last) > 1 ? 0 : still + 1;
    last = now;
  }
}
