import { randomBytes, randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Config } from "@/lib/config";
import { routeLabel } from "@/lib/metrics/route-label";
import { startService } from "@/lib/service/start";
import { dispatchEvents } from "@/lib/webhooks/dispatch";
import { addPerson, addTestClient, apiFor, canary, mintApproval, mintBody, signIn } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";

let t: TestService;

beforeAll(async () => {
  t = await createTestService();
});
afterAll(() => t.stop());

const textOf = async (service = t.service) => (await service.metrics.scrape()).body;
const seriesOf = (text: string) =>
  text
    .split("\n")
    .filter((line) => line.startsWith("countersign_"))
    .map((line) => line.slice(0, line.lastIndexOf(" ")));
const sampleOf = (text: string, sample: string) => {
  const line = text.split("\n").find((each) => each.startsWith(`${sample} `));
  return line === undefined ? undefined : Number(line.slice(sample.length));
};

describe("the series of a scrape", () => {
  it("stand at 0 before the first of their kind, so that an alarm sees it as a rise", async () => {
    const text = await textOf();
    for (const sample of [
      `countersign_problems_total{code="integrity_failed"}`,
      `countersign_problems_total{code="internal"}`,
      `countersign_events_total{type="approval.lapsed"}`,
      `countersign_mints_total{how="replayed"}`,
      `countersign_wait_changes_total{by="sweep"}`,
      `countersign_webhook_attempt_seconds_count{result="refused"}`,
      `countersign_throttled_total{what="password"}`,
    ])
      expect([sample, sampleOf(text, sample)]).toEqual([sample, 0]);
  });

  it("do not grow with paths, codes, keys, clients, tools or people, and hold none of them", async () => {
    const ada = await addPerson(t.service, "Grace");
    const client = await addTestClient(t.service);
    const strangers = apiFor(t.service, `csk_${"k".repeat(12)}_${canary}`);
    const random = () => randomBytes(6).toString("hex");
    const thousand = async () => {
      for (let count = 0; count < 1_000; count += 1) {
        const path = `/${["a", "api/v1/approvals", "admin", "x", ".well-known"][count % 5]}/${random()}?${random()}=1`;
        t.service.metrics.observeRequest(
          ["GET", "POST", random()][count % 3],
          routeLabel(path),
          200 + (count % 400),
          0.01,
        );
        if (count % 20 > 0) continue;
        await (count % 40 === 0 ? strangers : client.api)("GET", `/approvals/${random()}?${random()}`);
        const action = { tool: `zz_${random()}`, arguments: { [random()]: random() } };
        await client.api("POST", "/approvals", mintBody({ iss: ada.iss, sub: random() }, { action }));
      }
      return await textOf();
    };
    await thousand();
    const before = seriesOf(await thousand());
    const text = await thousand();
    expect(seriesOf(text)).toEqual(before);
    expect(before.length).toBeLessThan(1_000);
    const labels = seriesOf(text).join("\n");
    for (const hidden of [canary, client.clientId, client.apiKey, ada.sub, "zz_", "csk_", "Grace"])
      expect(labels).not.toContain(hidden);
  });

  it("take no label from a row that somebody else has written (I17)", async () => {
    const { clientId } = await addTestClient(t.service);
    await t.service.pool.query(
      `INSERT INTO "outbox" ("at", "type", "client_id", "data") VALUES (clock_timestamp(), $1, $2, '{}')`,
      [`approval.${canary}`, clientId],
    );
    for (const { type, count } of await dispatchEvents(t.service.pool)) t.service.metrics.countEvents(type, count);
    const text = await textOf();
    expect(sampleOf(text, `countersign_events_total{type="other"}`)).toBe(1);
    expect(text).not.toContain(canary);
  });
});

describe("changes that waits hear of", () => {
  it("are counted by how: by notice of another process, or by the sweep where the notice was lost", async () => {
    const [ada, client] = [await addPerson(t.service), await addTestClient(t.service)];
    const other = await startService(t.service.config, { listen: true, log: t.service.log });
    const { session } = await signIn(t.service, ada);
    const waited = async (decide: (id: string) => Promise<unknown>) => {
      const { id } = await mintApproval(client, ada);
      const parked = apiFor(other.service, client.apiKey)("GET", `/approvals/${id}?wait=50`);
      await expect.poll(() => other.service.hub.parkedCount()).toBe(1);
      await decide(id);
      return (await (await parked).json()) as { status: string };
    };
    const answered = await waited((id) => decideAs(t.service, session, id, "accept"));
    expect(answered.status).toBe("accepted");
    const noticed = sampleOf(await textOf(other.service), `countersign_wait_changes_total{by="notice"}`) ?? 0;
    expect(noticed).toBeGreaterThan(0);
    const mute = { ...t.service, hub: { ...t.service.hub, announce: () => {} } };
    await waited(async (id) => {
      await decideAs(mute, session, id, "accept");
      await other.service.hub.sweep();
    });
    const text = await textOf(other.service);
    expect(sampleOf(text, `countersign_wait_changes_total{by="sweep"}`)).toBe(1);
    expect(sampleOf(text, `countersign_wait_changes_total{by="notice"}`)).toBe(noticed);
    await other.stop();
  });
});

describe("a scrape while a table is locked", () => {
  it("answers in about two seconds, says so, and leaves no connection behind that waits", async () => {
    const holder = new pg.Client({ connectionString: t.databaseUrl, application_name: `holder-${randomUUID()}` });
    await holder.connect();
    await holder.query(`BEGIN; LOCK TABLE "outbox" IN ACCESS EXCLUSIVE MODE`);
    const scraped = await createScraper();
    const startedAt = performance.now();
    const [text] = await Promise.all([scraped.text(), scraped.text(), scraped.text()]);
    expect(performance.now() - startedAt).toBeLessThan(3_500);
    expect(sampleOf(text, "countersign_database_up")).toBe(0);
    await expect
      .poll(async () => {
        const { rows } = await holder.query<{ count: number }>(
          `SELECT count(*)::int AS "count" FROM pg_stat_activity WHERE "datname" = current_database()
           AND "wait_event_type" = 'Lock' AND "query" LIKE '%undispatchedSeconds%'`,
        );
        return rows[0]?.count;
      })
      .toBe(0);
    await holder.query("ROLLBACK");
    await holder.end();
    expect((await t.service.pool.query("SHOW statement_timeout")).rows).toEqual([{ statement_timeout: "15s" }]);
    await scraped.stop();
  });
});

describe("a scrape while every connection is in use", () => {
  it("waits for none longer than two seconds, and says so", async () => {
    const scraped = await createScraper({ databasePoolMax: 2 });
    const taken = await Promise.all([scraped.pool.connect(), scraped.pool.connect()]);
    const startedAt = performance.now();
    const text = await scraped.text();
    expect(performance.now() - startedAt).toBeLessThan(3_500);
    expect(sampleOf(text, "countersign_database_up")).toBe(0);
    expect(sampleOf(text, `countersign_database_connections{state="busy"}`)).toBe(2);
    for (const connection of taken) connection.release();
    await scraped.stop();
  });
});

/** A second service over the database, which has read nothing yet. */
async function createScraper(change: Partial<Config> = {}) {
  const { service, stop } = await startService({ ...t.service.config, ...change }, { log: t.service.log });
  return { pool: service.pool, text: () => textOf(service), stop };
}
