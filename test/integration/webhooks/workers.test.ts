import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PersonSession } from "@/lib/sessions/session";
import { addEndpoint } from "@/lib/webhooks/add-endpoint";
import { attemptDelivery } from "@/lib/webhooks/attempt";
import { claimDeliveries, inFlightMax, leaseSeconds } from "@/lib/webhooks/claim";
import { startDelivering } from "@/lib/webhooks/deliver";
import { dispatchEvents } from "@/lib/webhooks/dispatch";
import { listDeliveries } from "@/lib/webhooks/list-deliveries";
import { addPerson, addTestClient, mintApproval, type Person, signIn, type TestClient } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";
import { loopbackAllowed, makeDue } from "@/test/support/delivering";
import { startWebhookReceiver, type WebhookReceiver } from "@/test/support/webhook-receiver";

const actor = { kind: "admin", via: "cli" } as const;
const manyMints = { maxMintsPerSubjectPerHour: 10_000, maxPendingPerSubject: 1_000 };
let t: TestService;
let other: TestService;
let ada: Person;
let session: PersonSession;

beforeAll(async () => {
  t = await createTestService(loopbackAllowed);
  const { databaseUrl, config } = { databaseUrl: t.databaseUrl, config: t.service.config };
  other = await createTestService({
    ...loopbackAllowed,
    databaseUrl,
    ...(config.secret ? { secret: config.secret } : {}),
  });
  ada = await addPerson(t.service);
  ({ session } = await signIn(t.service, ada));
});
afterAll(async () => {
  await other.stop();
  await t.stop();
});

async function setUp(count: number): Promise<{ client: TestClient; receiver: WebhookReceiver; endpointId: string }> {
  const client = await addTestClient(t.service, manyMints);
  const receiver = await startWebhookReceiver();
  const { endpointId } = await addEndpoint(
    t.service,
    { clientId: client.clientId, url: receiver.url, events: [] },
    actor,
  );
  for (let i = 0; i < count; i += 1) {
    const { id } = await mintApproval(client, ada, { action: { tool: "act", arguments: { i } } });
    await decideAs(t.service, session, id, "cancel");
  }
  return { client, receiver, endpointId };
}

/** Resolves when `isSo` holds; looks whenever the receiver is asked. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 10));
}

const pendingOf = async (endpointId: string) =>
  (await listDeliveries(t.service.pool, { endpointId, status: "pending", limit: 1_000 })).length;

describe("workers", () => {
  it("of two processes share the deliveries and send each once", async () => {
    const { receiver, endpointId } = await setUp(40);
    const workers = [startDelivering(t.service), startDelivering(other.service)];
    await until(async () => receiver.received.length >= 40 && (await pendingOf(endpointId)) === 0);
    await Promise.all(workers.map((worker) => worker.stop()));
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(40);
    expect(receiver.received).toHaveLength(40);
    await receiver.stop();
  });

  it("deliver within a moment of the commit, not at the next look", async () => {
    const { client, receiver } = await setUp(0);
    const worker = startDelivering(t.service, 3_600_000);
    const { id } = await mintApproval(client, ada);
    await decideAs(t.service, session, id, "accept");
    await until(() => receiver.received.length === 1);
    await worker.stop();
    await receiver.stop();
  });

  it("that are gone lose nothing: what they had claimed is another's when the lease ends", async () => {
    const { receiver, endpointId } = await setUp(1);
    await dispatchEvents(t.service.pool);
    const [claimed] = (await claimDeliveries(t.service.pool, new Map())).filter(
      ({ endpoint }) => endpoint.endpointId === endpointId,
    );
    expect(claimed).toBeDefined();
    expect(await claimDeliveries(other.service.pool, new Map())).toEqual([]);
    await t.service.pool.query(
      `UPDATE "webhook_delivery" SET "next_at" = "next_at" - make_interval(secs => $1) WHERE "endpoint_id" = $2`,
      [leaseSeconds, endpointId],
    );
    const [again] = await claimDeliveries(other.service.pool, new Map());
    expect(again).toMatchObject({ deliveryId: claimed?.deliveryId, attempts: 2 });
    if (!again || !claimed) throw new Error("nothing was claimed");
    await attemptDelivery(other.service, again);
    // The first worker was not dead, only slow: its failure is no news by now.
    receiver.answer = (_received, response) => response.writeHead(500).end();
    await attemptDelivery(t.service, claimed);
    expect((await listDeliveries(t.service.pool, { endpointId, limit: 1 }))[0]?.status).toBe("delivered");
    await receiver.stop();
  });

  it("hold no transaction while a receiver takes its time, and no other endpoint waits for it", async () => {
    const slow = await setUp(inFlightMax.perEndpoint * 3);
    const held: (() => void)[] = [];
    slow.receiver.answer = (_received, response) => held.push(() => response.writeHead(204).end());
    const quick = await setUp(10);
    const worker = startDelivering(t.service);
    await until(() => quick.receiver.received.length === 10 && held.length === inFlightMax.perEndpoint);
    const { rows } = await t.service.pool.query(
      `SELECT 1 FROM pg_stat_activity WHERE "datname" = current_database() AND "state" LIKE 'idle in transaction%'`,
    );
    expect(rows).toEqual([]);
    slow.receiver.answer = (_received, response) => response.writeHead(204).end();
    for (const release of held) release();
    await until(async () => (await pendingOf(slow.endpointId)) === 0);
    await worker.stop();
    for (const { receiver } of [slow, quick]) await receiver.stop();
  });

  it("finish what they send before they stop, and take nothing new", async () => {
    const { receiver, endpointId } = await setUp(inFlightMax.perEndpoint + 5);
    const held: (() => void)[] = [];
    receiver.answer = (_received, response) => held.push(() => response.writeHead(204).end());
    const worker = startDelivering(t.service);
    await until(() => held.length === inFlightMax.perEndpoint);
    const stopped = worker.stop();
    for (const release of held) release();
    await stopped;
    expect(receiver.received).toHaveLength(inFlightMax.perEndpoint);
    expect(await pendingOf(endpointId)).toBe(5);
    await makeDue(t.service);
    await receiver.stop();
  });
});
