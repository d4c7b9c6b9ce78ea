import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deriveSecrets } from "@/lib/secrets/derive";
import { rotateRows } from "@/lib/secrets/rotate-rows";
import type { PersonSession } from "@/lib/sessions/session";
import { addEndpoint } from "@/lib/webhooks/add-endpoint";
import { listDeliveries } from "@/lib/webhooks/list-deliveries";
import { rotateWebhookSecret } from "@/lib/webhooks/rotate-secret";
import { addPerson, addTestClient, mintApproval, type Person, signIn, type TestClient } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";
import { deliverDue, loopbackAllowed } from "@/test/support/delivering";
import { startWebhookReceiver, type WebhookReceiver } from "@/test/support/webhook-receiver";

const actor = { kind: "admin", via: "cli" } as const;
let t: TestService;
let client: TestClient;
let ada: Person;
let session: PersonSession;
let receiver: WebhookReceiver;

beforeAll(async () => {
  t = await createTestService(loopbackAllowed);
  client = await addTestClient(t.service, { maxMintsPerSubjectPerHour: 1_000, maxPendingPerSubject: 500 });
  ada = await addPerson(t.service);
  ({ session } = await signIn(t.service, ada));
  receiver = await startWebhookReceiver();
});
afterAll(async () => {
  await receiver.stop();
  await t.stop();
});

const sql = (text: string, values: unknown[] = []) => t.service.pool.query(text, values);
const add = (url = receiver.url, clientId = client.clientId) =>
  addEndpoint(t.service, { clientId, url, events: [] }, actor);
const newestOf = async (endpointId: string) =>
  (await listDeliveries(t.service.pool, { endpointId, limit: 1 }))[0] ?? { status: "none", error: null };

/** A decision whose event is not handed out yet. */
async function decided(choice: "accept" | "decline" = "decline"): Promise<string> {
  const { id } = await mintApproval(client, ada, {
    action: { tool: "act", arguments: { at: randomBytes(8).toString("hex") } },
  });
  await decideAs(t.service, session, id, choice);
  return id;
}

describe("I17: somebody who can write the database but has not the secret", () => {
  it.each([
    [
      "a decline into an acceptance",
      `"type" = 'approval.accepted', "data" = "data" || '{"status":"accepted","decision":"accept"}'`,
    ],
    ["the kind of an event alone", `"type" = 'approval.consumed'`],
    ["its tool", `"data" = "data" || '{"tool":"other"}'`],
    ["its digest", `"data" = "data" || '{"actionDigest":"sha256:00"}'`],
    ["its reason", `"data" = "data" || '{"reason":"not_requested"}'`],
    ["its decision", `"data" = "data" || '{"decision":"accept"}'`],
    ["when it was decided", `"data" = "data" || '{"decidedAt":"2020-01-01T00:00:00Z"}'`],
    ["the receipt away", `"data" = "data" - 'receipt'`],
    ["the receipt", `"data" = "data" || '{"receipt":"a.b.c"}'`],
    ["which approval it is of", `"approval_id" = 'apr_' || repeat('0', 26)`],
    ["its kind into none of ours", `"type" = 'approval.everything'`],
    ["it into an event of a client", `"type" = 'approval.declined', "approval_id" = NULL, "approval_seq" = NULL`],
  ])("cannot have an event signed after changing %s", async (_what, change) => {
    const { endpointId } = await add();
    receiver.received.length = 0;
    const id = await decided();
    await sql(`UPDATE "outbox" SET ${change} WHERE "approval_id" = $1`, [id]);
    await deliverDue(t.service);
    const bodies = receiver.received.map(({ body }) => JSON.parse(body) as { data: { approvalId?: string } });
    expect(bodies).toEqual([]);
    expect(await newestOf(endpointId)).toMatchObject({
      status: "dead",
      error: "event_not_authentic",
      statusCode: null,
    });
    await sql(`DELETE FROM "webhook_endpoint" WHERE "id" = $1`, [endpointId]);
  });

  it("cannot make an event of an acceptance by copying the receipt of another", async () => {
    const { endpointId } = await add();
    const [accepted, declined] = [await decided("accept"), await decided()];
    await sql(
      `UPDATE "outbox" SET "type" = 'approval.accepted', "data" = (SELECT "data" FROM "outbox" WHERE "approval_id" = $2 LIMIT 1) WHERE "approval_id" = $1`,
      [declined, accepted],
    );
    receiver.received.length = 0;
    await deliverDue(t.service);
    expect(receiver.received.map(({ body }) => JSON.parse(body).data.approvalId)).toEqual([accepted]);
    await sql(`DELETE FROM "webhook_endpoint" WHERE "id" = $1`, [endpointId]);
  });

  it("cannot turn an endpoint to another URL or client, nor put one endpoint's secret into another", async () => {
    const one = await add();
    const other = await addTestClient(t.service);
    const theirs = await add(`${receiver.url}/theirs`, other.clientId);
    await decided();
    await sql(`UPDATE "webhook_endpoint" SET "url" = $2 WHERE "id" = $1`, [
      one.endpointId,
      `${receiver.url}/elsewhere`,
    ]);
    receiver.received.length = 0;
    await deliverDue(t.service);
    expect(await newestOf(one.endpointId)).toMatchObject({ status: "dead", error: "endpoint_not_authentic" });

    await sql(`UPDATE "webhook_endpoint" SET "url" = $2, "client_id" = $3 WHERE "id" = $1`, [
      theirs.endpointId,
      `${receiver.url}/theirs`,
      client.clientId,
    ]);
    await decided();
    await deliverDue(t.service);
    expect(await newestOf(theirs.endpointId)).toMatchObject({ status: "dead", error: "endpoint_not_authentic" });

    await sql(
      `UPDATE "webhook_endpoint" SET "secret_jwe" = (SELECT "secret_jwe" FROM "webhook_endpoint" WHERE "id" = $2) WHERE "id" = $1`,
      [one.endpointId, theirs.endpointId],
    );
    await decided();
    await deliverDue(t.service);
    expect(receiver.received).toEqual([]);
    await sql(`DELETE FROM "webhook_endpoint" WHERE "id" IN ($1, $2)`, [one.endpointId, theirs.endpointId]);
  });

  it("finds no secret of an endpoint in any row", async () => {
    const { endpointId, secret } = await add();
    const { rows } = await sql(`SELECT * FROM "webhook_endpoint" WHERE "id" = $1`, [endpointId]);
    const audit = await sql(`SELECT * FROM "audit_event"`);
    const stored = JSON.stringify([rows, audit.rows]);
    expect(stored).not.toContain(secret);
    expect(stored).not.toContain(secret.slice("whsec_".length));
    await sql(`DELETE FROM "webhook_endpoint" WHERE "id" = $1`, [endpointId]);
  });
});

describe("when the deployment's secret is replaced", () => {
  it("the secrets of endpoints are sealed anew, both of them, and sign as before; a spoilt one is reported", async () => {
    const first = await add();
    const { secret } = await rotateWebhookSecret(t.service, first.endpointId, actor);
    const spoilt = await add(`${receiver.url}/spoilt`);
    await sql(`UPDATE "webhook_endpoint" SET "url" = 'https://elsewhere.example.com/' WHERE "id" = $1`, [
      spoilt.endpointId,
    ]);
    await decided();
    const [old, next] = [t.service.config.secret ?? new Uint8Array(32), new Uint8Array(randomBytes(32))];
    const rotated = { ...t.service, secrets: deriveSecrets(next, old) };
    expect((await rotateRows(rotated, actor, { isTrial: true })).tables).toContainEqual({
      table: "webhook endpoints",
      rewritten: 1,
    });
    const { tables, unverified } = await rotateRows(rotated, actor);
    expect(tables).toContainEqual({ table: "webhook endpoints", rewritten: 1 });
    expect(unverified).toEqual([{ table: "webhook endpoints", name: spoilt.endpointId }]);
    receiver.received.length = 0;
    const restarted = await createTestService({ ...loopbackAllowed, databaseUrl: t.databaseUrl, secret: next });
    await deliverDue(restarted.service);
    await restarted.stop();
    const [received] = receiver.received.filter(({ path }) => path === "/hooks");
    if (!received) throw new Error("nothing arrived");
    for (const each of [secret, first.secret]) expect(receiver.verify(received, each).type).toBe("approval.declined");
    expect((await rotateRows(rotated, actor, { isTrial: true })).tables).toContainEqual({
      table: "webhook endpoints",
      rewritten: 0,
    });
  });
});
