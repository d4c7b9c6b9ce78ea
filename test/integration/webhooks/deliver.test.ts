import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { settleDue } from "@/lib/approvals/settle-due";
import { takeBack } from "@/lib/approvals/take-back";
import { freezeClient, unfreezeClient } from "@/lib/clients/freeze";
import { csrfToken } from "@/lib/sessions/csrf";
import type { PersonSession } from "@/lib/sessions/session";
import { addEndpoint } from "@/lib/webhooks/add-endpoint";
import { eventTypes } from "@/lib/webhooks/event";
import { listAttempts, listDeliveries } from "@/lib/webhooks/list-deliveries";
import { listEndpoints } from "@/lib/webhooks/list-endpoints";
import { removeEndpoint } from "@/lib/webhooks/remove-endpoint";
import { rotateWebhookSecret } from "@/lib/webhooks/rotate-secret";
import { attemptsMax } from "@/lib/webhooks/schedule";
import {
  addPerson,
  addTestClient,
  canary,
  mintApproval,
  mintBody,
  type Person,
  signIn,
  type TestClient,
} from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { expireIn, lapseNow } from "@/test/support/deadline";
import { decideAs } from "@/test/support/deciding";
import { deliverDue, loopbackAllowed, makeDue } from "@/test/support/delivering";
import { answerWith, startWebhookReceiver, type WebhookReceiver } from "@/test/support/webhook-receiver";

const actor = { kind: "admin", via: "cli" } as const;
let t: TestService;
let client: TestClient;
let ada: Person;
let session: PersonSession;
let receiver: WebhookReceiver;
let endpoint: { endpointId: string; secret: string };

beforeAll(async () => {
  t = await createTestService(loopbackAllowed);
  ada = await addPerson(t.service);
  ({ session } = await signIn(t.service, ada));
});
afterAll(() => t.stop());

beforeEach(async () => {
  client = await addTestClient(t.service, { maxMintsPerSubjectPerHour: 1_000, maxPendingPerSubject: 500 });
  receiver = await startWebhookReceiver();
  endpoint = await addEndpoint(t.service, { clientId: client.clientId, url: receiver.url, events: [] }, actor);
  return async () => {
    await removeEndpoint(t.service, endpoint.endpointId, actor);
    await receiver.stop();
  };
});

const sql = (text: string, values: unknown[] = []) => t.service.pool.query(text, values);
const verified = () => receiver.received.map((each) => receiver.verify(each, endpoint.secret));
const deliveries = (endpointId = endpoint.endpointId) => listDeliveries(t.service.pool, { endpointId, limit: 100 });

async function accept(): Promise<string> {
  const { id } = await mintApproval(client, ada);
  await decideAs(t.service, session, id, "accept");
  return id;
}

async function consume(id: string) {
  const consumerToken = randomBytes(32).toString("base64url");
  const { caller, action } = mintBody(ada);
  await client.api("POST", `/approvals/${id}/consume`, { caller, action, consumerToken });
  return consumerToken;
}

describe("an event", () => {
  it("of each kind arrives, signed for the reference library, and equals what the history says", async () => {
    const used = await accept();
    const consumerToken = await consume(used);
    await client.api("POST", `/approvals/${used}/outcome`, { consumerToken, outcome: "succeeded", code: "deleted" });
    for (const choice of ["decline", "cancel"] as const) {
      const { id } = await mintApproval(client, ada, { action: { tool: `${choice}_it`, arguments: {} } });
      await decideAs(t.service, session, id, choice);
    }
    const taken = await accept();
    const target = { sid: session.sid, purpose: "take_back", target: taken } as const;
    await takeBack(t.service, session, taken, csrfToken(t.service.secrets, target));
    const expired = await mintApproval(client, ada);
    await expireIn(t.service, expired.id, 0);
    const lapsed = await mintApproval(client, ada, { actBySeconds: 10 });
    await decideAs(t.service, session, lapsed.id, "accept");
    await lapseNow(t.service, lapsed.id);
    await settleDue(t.service);
    await client.api("POST", `/approvals/${(await mintApproval(client, ada)).id}/withdraw`, { reason: "aborted" });
    await freezeClient(t.service, client.clientId, actor);
    await unfreezeClient(t.service, client.clientId, actor);
    await deliverDue(t.service);

    const events = verified();
    const told = events.filter(({ type }) => type.startsWith("approval."));
    const { rows } = await sql(
      `SELECT "type", "approval_id", "approval_seq" FROM "audit_event" WHERE "client_id" = $1 AND "type" LIKE 'approval.%'
         AND "type" <> 'approval.minted'`,
      [client.clientId],
    );
    const key = (type: unknown, id: unknown, seq: unknown) => `${type} ${id} ${seq}`;
    expect(told.map(({ type, data }) => key(type, data["approvalId"], data["approvalSeq"])).sort()).toEqual(
      rows.map((row) => key(row.type, row.approval_id, row.approval_seq)).sort(),
    );
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(eventTypes));
    expect(receiver.received.every(({ body }) => !body.includes(canary) && body.length < 20_000)).toBe(true);
  });

  it("I8: of a change that was not made there is none", async () => {
    const id = await accept();
    await decideAs(t.service, session, id, "decline");
    await deliverDue(t.service);
    expect(verified().map(({ type }) => type)).toEqual(["approval.accepted"]);
  });

  it("goes to the endpoints of its own client alone, and to those that asked for its kind", async () => {
    const other = await addTestClient(t.service);
    const theirs = await addEndpoint(
      t.service,
      { clientId: other.clientId, url: `${receiver.url}/theirs`, events: [] },
      actor,
    );
    const declines = await addEndpoint(
      t.service,
      { clientId: client.clientId, url: `${receiver.url}/declines`, events: ["approval.declined"] },
      actor,
    );
    await accept();
    await deliverDue(t.service);
    expect(receiver.received.map(({ path }) => path)).toEqual(["/hooks"]);
    expect(await deliveries(theirs.endpointId)).toEqual([]);
    expect(await deliveries(declines.endpointId)).toEqual([]);
  });

  it("carries a signature by each secret while one is being replaced, and by the new one alone afterwards", async () => {
    const { secret } = await rotateWebhookSecret(t.service, endpoint.endpointId, actor);
    await accept();
    await deliverDue(t.service);
    for (const each of [secret, endpoint.secret])
      expect(receiver.received.map((received) => receiver.verify(received, each).type)).toEqual(["approval.accepted"]);
    const leaked = secret;
    const { secret: last } = await rotateWebhookSecret(t.service, endpoint.endpointId, actor, 0);
    receiver.received.length = 0;
    await accept();
    await deliverDue(t.service);
    expect(receiver.verify(receiver.received[0] as never, last).type).toBe("approval.accepted");
    expect(() => receiver.verify(receiver.received[0] as never, leaked)).toThrow();
  });

  it("stands in the outbox with its moment: what happens later changes nothing of it", async () => {
    const id = await accept();
    await client.api("POST", `/approvals/${id}/withdraw`, { reason: "aborted" });
    await deliverDue(t.service);
    const [accepted, withdrawn] = verified().sort(
      (a, b) => Number(a.data["approvalSeq"]) - Number(b.data["approvalSeq"]),
    );
    expect(accepted).toMatchObject({ type: "approval.accepted", data: { status: "accepted", decision: "accept" } });
    expect(withdrawn).toMatchObject({ type: "approval.withdrawn", data: { status: "withdrawn", reason: "aborted" } });
    expect(accepted?.data["receipt"]).not.toBe(withdrawn?.data["receipt"]);
  });
});

describe("a receiver that fails", () => {
  it("gets the same event again, under the same id, and its answers stand in the list without their bodies", async () => {
    const statuses = [500, 302, 429, 204];
    receiver.answer = (received, response) => {
      const status = statuses[receiver.received.length - 1] ?? 204;
      response
        .writeHead(status, { location: "http://127.0.0.1:9/" })
        .end(status === 204 ? undefined : `${canary} body`);
      expect(received.path).toBe("/hooks");
    };
    await accept();
    for (const _ of statuses) {
      await deliverDue(t.service);
      await makeDue(t.service);
    }
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    const [delivery] = await deliveries();
    expect(delivery).toMatchObject({ status: "delivered", attempts: 4, statusCode: 204 });
    const attempts = await listAttempts(t.service.pool, delivery?.deliveryId ?? "");
    expect(attempts.map(({ statusCode }) => statusCode)).toEqual(statuses);
    const { rows } = await sql(`SELECT * FROM "webhook_attempt"`);
    expect(JSON.stringify(rows)).not.toContain(canary);
    expect((await listEndpoints(t.service.pool, endpoint))[0]?.failingSince).toBeNull();
  });

  it("is left alone for as long as its Retry-After says, never for less than the schedule", async () => {
    await accept();
    receiver.answer = answerWith(503, { "retry-after": "7200" });
    await deliverDue(t.service);
    const waits = async () => ((await deliveries())[0]?.nextAt?.getTime() ?? 0) - Date.now();
    expect(await waits()).toBeGreaterThan(7_100_000);
    await makeDue(t.service);
    receiver.answer = answerWith(503, { "retry-after": "1" });
    await deliverDue(t.service);
    expect(await waits()).toBeGreaterThan(295_000);
  });

  it.each([
    ["closes the connection", "reset", (_: unknown, response: { destroy(): void }) => response.destroy()],
    [
      "answers what is not HTTP",
      "malformed_response",
      (_: unknown, response: { socket: { end(text: string): void } | null }) =>
        response.socket?.end("220 smtp ready\r\n"),
    ],
  ])("that %s is tried again, and the list says %s", async (_what, code, answer) => {
    receiver.answer = answer as never;
    await accept();
    await deliverDue(t.service);
    expect((await deliveries())[0]).toMatchObject({ status: "pending", attempts: 1, error: code, statusCode: null });
  });

  it("that hangs is left after fifteen seconds, and tried again", async () => {
    receiver.answer = () => {};
    await accept();
    const startedAt = performance.now();
    await deliverDue(t.service);
    expect(Math.round((performance.now() - startedAt) / 1000)).toBeLessThan(20);
    expect((await deliveries())[0]).toMatchObject({
      status: "pending",
      attempts: 1,
      error: "timeout",
      statusCode: null,
    });
  });

  it.each([
    [
      "promises a longer body than it sends",
      (response: ServerResponse) => response.writeHead(200, { "content-length": "9" }).write("x"),
    ],
    ["trickles a body", (response: ServerResponse) => response.writeHead(200).write("x")],
  ])("that answers 200 and %s has got its event", async (_what, begin) => {
    receiver.answer = (_received, response) => {
      begin(response);
      setImmediate(() => response.destroy());
    };
    await accept();
    await deliverDue(t.service);
    expect((await deliveries())[0]).toMatchObject({ status: "delivered", statusCode: 200 });
  });

  it("that answers 200 and then goes on for ever has got its event", async () => {
    receiver.answer = (_received, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write(Buffer.alloc(32_768)), 1);
      response.on("close", () => clearInterval(timer));
    };
    await accept();
    await deliverDue(t.service);
    expect((await deliveries())[0]).toMatchObject({ status: "delivered", statusCode: 200 });
  });

  it("becomes a dead letter after the last attempt of the schedule, three days on; it is kept", async () => {
    receiver.answer = answerWith(500);
    await accept();
    let waitedMs = 0;
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      await deliverDue(t.service);
      waitedMs += Math.max(0, ((await deliveries())[0]?.nextAt?.getTime() ?? 0) - Date.now());
      await makeDue(t.service);
    }
    expect(await deliverDue(t.service)).toEqual([]);
    expect((await deliveries())[0]).toMatchObject({ status: "dead", attempts: attemptsMax, statusCode: 500 });
    expect(waitedMs / 3_600_000).toBeGreaterThan(72);
    expect(waitedMs / 3_600_000).toBeLessThan(90);
  });

  it("that answers 410 is disabled, with an event of the history, and gets nothing more", async () => {
    receiver.answer = answerWith(410);
    await accept();
    await deliverDue(t.service);
    await accept();
    await deliverDue(t.service);
    expect(receiver.received).toHaveLength(1);
    expect((await listEndpoints(t.service.pool, endpoint))[0]).toMatchObject({ disabledReason: "gone", dead: 1 });
    const { rows } = await sql(
      `SELECT "reason", "actor", "data" FROM "audit_event" WHERE "type" = 'admin.webhook_disabled' AND "client_id" = $1`,
      [client.clientId],
    );
    expect(rows).toMatchObject([
      { actor: { kind: "service" }, data: { endpointId: endpoint.endpointId, reason: "gone" } },
    ]);
  });

  it("that has failed for three days is disabled at its next failure; a success in between counts", async () => {
    receiver.answer = answerWith(500);
    await accept();
    await deliverDue(t.service);
    await sql(
      `UPDATE "webhook_endpoint" SET "failing_since" = clock_timestamp() - INTERVAL '71 hours' WHERE "id" = $1`,
      [endpoint.endpointId],
    );
    await makeDue(t.service);
    await deliverDue(t.service);
    expect((await listEndpoints(t.service.pool, endpoint))[0]?.disabledReason).toBeNull();
    await sql(
      `UPDATE "webhook_endpoint" SET "failing_since" = clock_timestamp() - INTERVAL '73 hours' WHERE "id" = $1`,
      [endpoint.endpointId],
    );
    await makeDue(t.service);
    await deliverDue(t.service);
    expect((await listEndpoints(t.service.pool, endpoint))[0]).toMatchObject({
      disabledReason: "failing",
      pending: 0,
      dead: 1,
    });
  });
});
