import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addEndpoint } from "@/lib/webhooks/add-endpoint";
import { addPerson, addTestClient, canary, mintApproval, mintBody, type Person, signIn } from "@/test/support/actors";
import { attributesOf, startCollector } from "@/test/support/collector";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";
import { deliverDue, loopbackAllowed } from "@/test/support/delivering";
import { startWebhookReceiver, type WebhookReceiver } from "@/test/support/webhook-receiver";

const actor = { kind: "admin", via: "cli" } as const;
const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const traceId = parent.slice(3, 35);
const consumerToken = `${"Zq9".repeat(14)}A`;

let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
});
afterAll(() => receiver.stop());

/** Mint, accept, consume, deliver. */
async function runOnce(t: TestService, ada: Person, headers: Record<string, string> = {}) {
  const client = await addTestClient(t.service);
  const { secret } = await addEndpoint(t.service, { clientId: client.clientId, url: receiver.url, events: [] }, actor);
  const minted = await client.api("POST", "/approvals", mintBody(ada), headers);
  const { id } = (await minted.json()) as { id: string };
  const note = { note: canary };
  await decideAs(t.service, (await signIn(t.service, ada)).session, id, "accept", note);
  const { caller, action } = mintBody(ada);
  await client.api("POST", `/approvals/${id}/consume`, { caller, action, consumerToken }, headers);
  receiver.received.length = 0;
  await deliverDue(t.service);
  return { id, secret, apiKey: client.apiKey };
}

describe("traces", () => {
  it("lead from the call that minted to the decision and the webhook, with no value of an argument, note or secret in them", async () => {
    const collector = await startCollector();
    const t = await createTestService({ ...loopbackAllowed, traces: collector.settings });
    const ada = await addPerson(t.service);
    const { id, secret, apiKey } = await runOnce(t, ada, { traceparent: parent });
    await t.stop();
    const spans = collector.spans().filter((span) => span.traceId === traceId);
    const named = (name: string) => spans.filter((span) => span.name === name);
    const [mint] = named("POST /api/v1/approvals");
    expect(mint?.parentSpanId).toBe(parent.slice(36, 52));
    expect(attributesOf(mint)).toEqual({
      "http.request.method": "POST",
      "http.route": "/api/v1/approvals",
      "http.response.status_code": 201,
      "countersign.approval.id": id,
      "countersign.mint.how": "minted",
    });
    expect(named("decide").map(({ parentSpanId }) => parentSpanId)).toEqual([mint?.spanId]);
    const [consume] = named("POST /api/v1/approvals/{id}/consume");
    expect(consume?.kind).toBe(2);
    expect(attributesOf(consume)).toMatchObject({ "countersign.approval.id": id, "http.response.status_code": 200 });
    const attempts = named("webhook attempt");
    expect(attempts.map(({ parentSpanId }) => parentSpanId)).toEqual([mint?.spanId, mint?.spanId]);
    expect(attributesOf(attempts[0])).toMatchObject({ "http.response.status_code": 204 });
    expect(attempts[0]?.status.code).toBe(0);
    expect(receiver.received.map(({ headers }) => headers["traceparent"]).sort()).toEqual(
      attempts.map(({ spanId }) => `00-${traceId}-${spanId}-01`).sort(),
    );
    expect(collector.requests.every(({ path, headers }) => path === "/v1/traces" && headers["x-team"] === "crm")).toBe(
      true,
    );
    const sent = collector.requests.map(({ body }) => body).join("\n");
    for (const hidden of [canary, secret, apiKey, consumerToken, "p_42", "Apollo", ada.sub, ada.email, receiver.url])
      expect(sent).not.toContain(hidden);
    await collector.stop();
  });

  it("are nothing where no collector is configured: no header read, nothing stored, nothing sent along", async () => {
    const t = await createTestService(loopbackAllowed);
    await runOnce(t, await addPerson(t.service), { traceparent: parent });
    const { rows } = await t.service.pool.query(
      `SELECT "trace_context" FROM "approval" UNION ALL SELECT "trace_context" FROM "outbox"`,
    );
    expect(rows.every((row) => row.trace_context === null)).toBe(true);
    expect(receiver.received.every(({ headers }) => !("traceparent" in headers))).toBe(true);
    await t.stop();
  });

  it("cost nobody anything where the collector is away: calls are answered and the service stops in time", async () => {
    const settings = { endpoint: "http://127.0.0.1:9", headers: {}, serviceName: "countersign-test" };
    const t = await createTestService({ ...loopbackAllowed, traces: settings });
    const client = await addTestClient(t.service);
    const ada = await addPerson(t.service);
    const { id } = await mintApproval(client, ada);
    expect((await client.api("GET", `/approvals/${id}`)).status).toBe(200);
    const startedAt = performance.now();
    await t.stop();
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});
