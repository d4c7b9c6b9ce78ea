import { readFileSync } from "node:fs";
import path from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answerMetrics } from "@/app/metrics";
import { addEndpoint } from "@/lib/webhooks/add-endpoint";
import { addPerson, addTestClient, apiFor, canary, mintApproval, signIn } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";
import { deliverDue, loopbackAllowed } from "@/test/support/delivering";
import { answerWith, startWebhookReceiver } from "@/test/support/webhook-receiver";

const actor = { kind: "admin", via: "cli" } as const;
const token = "metrics-token-of-a-test-0123456789";
let t: TestService;

beforeAll(async () => {
  t = await createTestService({ ...loopbackAllowed, metricsToken: token });
});
afterAll(() => t.stop());

const scrape = (headers: Record<string, string> = {}, isOwnListener = false, service = t.service) =>
  answerMetrics(service, new Request("http://localhost:3000/metrics", { headers }), { isOwnListener });
const authorised = { authorization: `Bearer ${token}` };
const sampleOf = (text: string, sample: string) => {
  const line = text.split("\n").find((each) => each.startsWith(`${sample} `));
  return line === undefined ? undefined : Number(line.slice(sample.length));
};

describe("/metrics", () => {
  it("beside the pages is for whoever has the token; for everybody else it is not there", async () => {
    for (const headers of [
      {},
      { authorization: "Bearer" },
      { authorization: `Bearer ${token}x` },
      { authorization: `Basic ${token}` },
    ])
      expect((await scrape(headers as Record<string, string>)).status).toBe(404);
    expect((await scrape(authorised)).status).toBe(200);
    const without = { ...t.service, config: { ...t.service.config, metricsToken: undefined } };
    expect((await scrape(authorised, false, without)).status).toBe(404);
    expect((await scrape({}, true, without)).status).toBe(200);
    expect([(await scrape({}, true)).status, (await scrape(authorised, true)).status]).toEqual([404, 200]);
    const posted = new Request("http://localhost:3000/metrics", { method: "POST", headers: authorised });
    expect((await answerMetrics(t.service, posted, { isOwnListener: true })).status).toBe(404);
  });

  it("counts what happens, and tells of nobody: no id, no name, no value", async () => {
    // What is read from the database is remembered for a moment.
    const own = await createTestService({ ...loopbackAllowed, metricsToken: token });
    const receiver = await startWebhookReceiver();
    const client = await addTestClient(own.service);
    const ada = await addPerson(own.service);
    const { endpointId } = await addEndpoint(
      own.service,
      { clientId: client.clientId, url: receiver.url, events: [] },
      actor,
    );
    const { id } = await mintApproval(client, ada);
    await decideAs(own.service, (await signIn(own.service, ada)).session, id, "accept", { note: canary });
    receiver.answer = answerWith(500);
    await deliverDue(own.service);
    await client.api("GET", "/approvals/apr_nothing");
    const guess = apiFor(own.service, `csk_aaaaaaaaaaaa_${"A".repeat(43)}`);
    for (let status = 0; status !== 429; ) status = (await guess("GET", "/approvals")).status;
    const text = await (await scrape(authorised, false, own.service)).text();
    expect(sampleOf(text, `countersign_mints_total{how="minted"}`)).toBe(1);
    expect(sampleOf(text, `countersign_problems_total{code="not_found"}`)).toBe(1);
    expect(sampleOf(text, `countersign_webhook_attempt_seconds_count{result="failed"}`)).toBe(1);
    expect(sampleOf(text, "countersign_webhook_deliveries_pending")).toBe(1);
    expect(sampleOf(text, "countersign_webhook_endpoints_failing")).toBe(1);
    expect(sampleOf(text, `countersign_throttled_total{what="api_key"}`)).toBe(1);
    expect(sampleOf(text, `countersign_password_hashes{state="running"}`)).toBe(0);
    expect(sampleOf(text, "countersign_database_up")).toBe(1);
    expect(sampleOf(text, "countersign_listening")).toBe(1);
    expect(sampleOf(text, "countersign_can_sign")).toBe(1);
    for (const hidden of [
      canary,
      id,
      client.clientId,
      client.apiKey,
      ada.sub,
      ada.email,
      endpointId,
      "delete_project",
      "127.0.0.1",
    ])
      expect(text).not.toContain(hidden);
    await receiver.stop();
    await own.stop();
  });

  it("are those that the documentation names, each with its help", async () => {
    const text = await (await scrape(authorised)).text();
    const served = [...text.matchAll(/^# TYPE (countersign_\w+) /gm)].map(([, name]) => name);
    const page = readFileSync(path.resolve(import.meta.dirname, "../../docs/observability.md"), "utf8");
    const documented = [...page.matchAll(/^\| `(countersign_\w+)/gm)].map(([, name]) => name);
    expect(documented.toSorted()).toEqual(served.toSorted());
    for (const name of served) expect(text).toMatch(new RegExp(`^# HELP ${name} \\S`, "m"));
  });

  it("answer while the database is away, and say so", async () => {
    const other = await createTestService({ metricsToken: token });
    const name = new URL(other.databaseUrl).pathname.slice(1);
    const admin = new pg.Client({ connectionString: t.databaseUrl });
    await admin.connect();
    await admin.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS false`);
    await admin.query(`SELECT pg_terminate_backend("pid") FROM pg_stat_activity WHERE "datname" = $1`, [name]);
    const text = await (await scrape(authorised, false, other.service)).text();
    expect(sampleOf(text, "countersign_database_up")).toBe(0);
    expect(sampleOf(text, "countersign_webhook_deliveries_pending")).toBeUndefined();
    await admin.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS true`);
    await admin.end();
    await other.stop();
  });
});
