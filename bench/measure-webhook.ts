import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { addEndpoint } from "@/lib/webhooks/add-endpoint";
import { mintOne } from "./calls";
import { clickCall } from "./click";
import { describeTimes } from "./click-to-caller";
import type { Figure } from "./figure";
import { type Sent, send } from "./send";
import { at, type BenchStage } from "./stage";

const warmUp = 30;
const samples = 200;

/**
 * From the moment an approval was accepted, by the database's clock, and from the click, to the moment a receiver on this machine has the
 * head of its request; one after another. The worker is that of the server process.
 */
export async function measureWebhook(stage: BenchStage): Promise<Figure> {
  const receiver = await startReceiver(stage);
  const client = at(stage.clients, 1);
  const actor = { kind: "admin", via: "cli" } as const;
  const endpoint = { clientId: client.clientId, url: receiver.url, events: ["approval.accepted"] };
  await addEndpoint(stage.service, endpoint, actor);
  const fromEvent: number[] = [];
  const fromClick: number[] = [];
  for (let i = 0; i < warmUp + samples; i += 1) {
    const person = at(stage.people, i);
    const id = await mintOne(client, person);
    const arriving = receiver.arrivalOf(id);
    // Awaited only after the click: until then a failure must not end the process without its clean-up.
    arriving.catch(() => undefined);
    const clickedAt = await press(await clickCall(stage.service, person, stage.server.url, id));
    const { arrivedAt, happenedAt } = await arriving;
    fromEvent.push(arrivedAt - happenedAt);
    fromClick.push(arrivedAt - clickedAt);
  }
  return {
    name: "webhook",
    value: `accepted → receiver ${describeTimes(fromEvent.slice(warmUp))}; click → receiver ${describeTimes(fromClick.slice(warmUp))}`,
    baseline: "–",
    ratio: "–",
  };
}

/** Wall clocks throughout: the event's instant is the database's, on the same machine. */
const wallClock = () => performance.timeOrigin + performance.now();

async function press(click: Sent): Promise<number> {
  const clickedAt = wallClock();
  const { status } = await send(click);
  if (status !== 303) throw new Error(`the click was answered ${status}`);
  return clickedAt;
}

type Arrival = { arrivedAt: number; happenedAt: number };

async function startReceiver(stage: BenchStage) {
  const waiting = new Map<string, (arrival: Arrival) => void>();
  const server = createServer((request, response) => {
    const arrivedAt = wallClock();
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      response.writeHead(204).end();
      const event = JSON.parse(Buffer.concat(chunks).toString()) as { timestamp: string; data: { approvalId: string } };
      waiting.get(event.data.approvalId)?.({ arrivedAt, happenedAt: Date.parse(event.timestamp) });
      waiting.delete(event.data.approvalId);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  stage.onStop(async () => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    arrivalOf: (id: string) =>
      new Promise<Arrival>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`no event of ${id} arrived within 30 s`)), 30_000);
        waiting.set(id, (arrival) => {
          clearTimeout(timer);
          resolve(arrival);
        });
      }),
  };
}
