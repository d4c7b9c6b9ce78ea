import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PersonSession } from "@/lib/sessions/session";
import { addEndpoint } from "@/lib/webhooks/add-endpoint";
import { disableEndpoint, enableEndpoint } from "@/lib/webhooks/disable-endpoint";
import { listDeliveries } from "@/lib/webhooks/list-deliveries";
import { pruneEvents } from "@/lib/webhooks/prune";
import { replayDelivery, replayMissed, replayRange } from "@/lib/webhooks/replay";
import { sendTestEvent } from "@/lib/webhooks/send-test-event";
import { addPerson, addTestClient, mintApproval, type Person, signIn, type TestClient } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";
import { deliverDue, loopbackAllowed } from "@/test/support/delivering";
import { answerWith, startWebhookReceiver, type WebhookReceiver } from "@/test/support/webhook-receiver";

const actor = { kind: "admin", via: "cli" } as const;
let t: TestService;
let ada: Person;
let session: PersonSession;
let receiver: WebhookReceiver;

beforeAll(async () => {
  t = await createTestService(loopbackAllowed);
  ada = await addPerson(t.service);
  ({ session } = await signIn(t.service, ada));
  receiver = await startWebhookReceiver();
});
afterAll(async () => {
  await receiver.stop();
  await t.stop();
});

const sql = (text: string, values: unknown[] = []) => t.service.pool.query(text, values);
const newClient = () => addTestClient(t.service, { maxMintsPerSubjectPerHour: 1_000, maxPendingPerSubject: 500 });
const add = (client: TestClient) =>
  addEndpoint(t.service, { clientId: client.clientId, url: receiver.url, events: [] }, actor);
const deliveriesOf = (endpointId: string) => listDeliveries(t.service.pool, { endpointId, limit: 100 });
const everyRow = async () =>
  (
    await sql(
      `SELECT (SELECT count(*) FROM "webhook_endpoint") AS "endpoints", (SELECT count(*) FROM "audit_event") AS "audit"`,
    )
  ).rows[0];

async function cancelled(client: TestClient): Promise<string> {
  const { id } = await mintApproval(client, ada, { action: { tool: "act", arguments: {} } });
  await decideAs(t.service, session, id, "cancel");
  return id;
}

describe("adding an endpoint", () => {
  it.each([
    ["http at a public address", { url: "http://93.184.216.34/hooks" }, "/url", /https/],
    ["a private address", { url: "https://10.0.0.7/hooks" }, "/url", /OUTBOUND_ALLOW/],
    ["the metadata address", { url: "http://169.254.169.254/latest" }, "/url", /OUTBOUND_ALLOW/],
    ["loopback in numbers of another base", { url: "https://2130706434/" }, "/url", /OUTBOUND_ALLOW/],
    ["a user name", { url: "https://ada:pw@hooks.example.com/" }, "/url", /user name/],
    ["a fragment", { url: "https://hooks.example.com/#" }, "/url", /fragment/],
    ["another scheme", { url: "file:///etc/passwd" }, "/url", /https/],
    ["no URL", { url: "hooks" }, "/url", /URL/],
    ["an unknown event", { events: ["approval.everything"] }, "/events", /approval\.accepted/],
  ])("refuses %s, names the field and what to set, and stores nothing", async (_what, change, pointer, words) => {
    const client = await newClient();
    const before = await everyRow();
    const refused = addEndpoint(
      t.service,
      { clientId: client.clientId, url: "https://hooks.example.com/", events: [], ...change },
      actor,
    );
    await expect(refused).rejects.toMatchObject({
      code: "invalid_request",
      extras: { errors: [{ pointer, message: expect.stringMatching(words) }] },
    });
    expect(await everyRow()).toEqual(before);
  });

  it("of a client that is not there is refused", async () => {
    await expect(
      addEndpoint(t.service, { clientId: "cli_none", url: receiver.url, events: [] }, actor),
    ).rejects.toMatchObject({
      code: "not_found",
    });
  });

  it("ends at twenty a client", async () => {
    const client = await newClient();
    for (let i = 0; i < 20; i += 1) await add(client);
    await expect(add(client)).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("is refused again at delivery where what is allowed has changed since", async () => {
    const client = await newClient();
    const { endpointId } = await add(client);
    await cancelled(client);
    receiver.received.length = 0;
    const { config } = t.service;
    await deliverDue({ ...t.service, config: { ...config, outbound: { hosts: [], ranges: [] } } });
    expect(receiver.received).toEqual([]);
    expect((await deliveriesOf(endpointId))[0]).toMatchObject({
      status: "pending",
      statusCode: null,
      error: expect.stringMatching(/_refused$/),
    });
  });
});

describe("an endpoint that an admin stops", () => {
  it("gets nothing, and what it has missed when it is wanted: each event once, under its own id", async () => {
    const client = await newClient();
    const { endpointId } = await add(client);
    receiver.answer = answerWith(500);
    const waiting = await cancelled(client);
    await deliverDue(t.service);
    receiver.answer = answerWith(204);
    expect(await disableEndpoint(t.service, endpointId, actor)).toEqual({ endpointId, changed: true });
    expect(await disableEndpoint(t.service, endpointId, actor)).toEqual({ endpointId, changed: false });
    const missed = await cancelled(client);
    receiver.received.length = 0;
    await deliverDue(t.service);
    await expect(sendTestEvent(t.service, endpointId, actor)).rejects.toMatchObject({ code: "invalid_request" });
    await expect(replayMissed(t.service, endpointId, actor)).rejects.toMatchObject({ code: "invalid_request" });
    expect(receiver.received).toEqual([]);
    await enableEndpoint(t.service, endpointId, actor);
    const arrived = await cancelled(client);
    await deliverDue(t.service);
    expect(await replayMissed(t.service, endpointId, actor)).toEqual({ endpointId, replayed: 2 });
    await deliverDue(t.service);
    const ids = receiver.received.map(({ body }) => JSON.parse(body).data.approvalId);
    expect(ids).toHaveLength(3);
    expect(new Set(ids)).toEqual(new Set([waiting, missed, arrived]));
    expect(await replayMissed(t.service, endpointId, actor)).toEqual({ endpointId, replayed: 0 });
  });
});

describe("sending again", () => {
  it("one delivery keeps its id and begins its schedule anew; of another endpoint's page it is not there", async () => {
    const client = await newClient();
    const [{ endpointId }, other] = [await add(client), await add(client)];
    await cancelled(client);
    receiver.received.length = 0;
    await deliverDue(t.service);
    const [delivery] = await deliveriesOf(endpointId);
    const deliveryId = delivery?.deliveryId ?? "";
    await expect(replayDelivery(t.service, { deliveryId, endpointId: other.endpointId }, actor)).rejects.toMatchObject({
      code: "not_found",
    });
    for (const wrong of ["0", "-1", "1e3", "", "9".repeat(30), "x"])
      await expect(replayDelivery(t.service, { deliveryId: wrong }, actor)).rejects.toMatchObject({
        code: "not_found",
      });
    await replayDelivery(t.service, { deliveryId, endpointId }, actor);
    await deliverDue(t.service);
    const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect(ids).toEqual([delivery?.eventId, delivery?.eventId, delivery?.eventId]);
    expect((await deliveriesOf(endpointId))[0]).toMatchObject({ status: "delivered", attempts: 1 });
  });

  it("a range takes what happened in it, and what has arrived only when asked to", async () => {
    const client = await newClient();
    const { endpointId } = await add(client);
    const ids = [await cancelled(client), await cancelled(client), await cancelled(client)];
    await deliverDue(t.service);
    for (const [i, id] of ids.entries())
      await sql(
        `UPDATE "outbox" SET "at" = timestamptz '2026-11-01T00:00:00Z' + make_interval(hours => $2) WHERE "approval_id" = $1`,
        [id, i],
      );
    const range = { since: new Date("2026-11-01T01:00:00Z"), until: new Date("2026-11-01T02:00:00Z") };
    expect((await replayRange(t.service, endpointId, { ...range, isAll: false }, actor)).replayed).toBe(0);
    receiver.received.length = 0;
    expect((await replayRange(t.service, endpointId, { ...range, isAll: true }, actor)).replayed).toBe(1);
    await deliverDue(t.service);
    expect(receiver.received.map(({ body }) => JSON.parse(body).data.approvalId)).toEqual([ids[1]]);
    await expect(
      replayRange(t.service, endpointId, { since: range.until, until: range.since, isAll: true }, actor),
    ).rejects.toMatchObject({ code: "invalid_request" });
  });
});

describe("a test event", () => {
  it("is sent at once, signed, to that endpoint alone, and says what it answered", async () => {
    const client = await newClient();
    const [{ endpointId, secret }, other] = [await add(client), await add(client)];
    receiver.received.length = 0;
    const { result } = await sendTestEvent(t.service, endpointId, actor);
    expect(result).toEqual({ kind: "delivered", statusCode: 204 });
    const [received] = receiver.received;
    if (!received) throw new Error("nothing arrived");
    expect(receiver.verify(received, secret)).toMatchObject({
      type: "webhook.test",
      data: { clientId: client.clientId, endpointId },
    });
    expect(await deliveriesOf(other.endpointId)).toEqual([]);
    receiver.answer = answerWith(500);
    expect((await sendTestEvent(t.service, endpointId, actor)).result).toMatchObject({
      kind: "failed",
      statusCode: 500,
    });
    receiver.answer = answerWith(204);
    await sql(
      `UPDATE "webhook_delivery" SET "status" = 'dead', "ended_at" = clock_timestamp() WHERE "status" = 'pending'`,
    );
  });
});

describe("retention", () => {
  it("keeps what waits, dead letters for a month and the rest for a week", async () => {
    const client = await newClient();
    const { endpointId } = await add(client);
    const [arrived, dead, deadLong, waiting] = [
      await cancelled(client),
      await cancelled(client),
      await cancelled(client),
      await cancelled(client),
    ];
    await deliverDue(t.service);
    const age = async (id: string, status: string, days: number) => {
      await sql(
        `UPDATE "webhook_delivery" SET "status" = $2, "ended_at" = CASE WHEN $2 = 'pending' THEN NULL ELSE clock_timestamp() - make_interval(days => $3) END
         WHERE "outbox_id" = (SELECT "id" FROM "outbox" WHERE "approval_id" = $1)`,
        [id, status, days],
      );
      await sql(`UPDATE "outbox" SET "at" = clock_timestamp() - make_interval(days => $2) WHERE "approval_id" = $1`, [
        id,
        days,
      ]);
    };
    await age(arrived, "delivered", 8);
    await age(dead, "dead", 29);
    await age(deadLong, "dead", 31);
    await age(waiting, "pending", 40);
    await pruneEvents(t.service.pool);
    const left = (await deliveriesOf(endpointId)).map(({ approvalId }) => approvalId);
    expect(new Set(left)).toEqual(new Set([dead, waiting]));
  });
});
