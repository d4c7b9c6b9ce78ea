import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addEndpoint } from "@/lib/webhooks/add-endpoint";
import { claimDeliveries, claimSql } from "@/lib/webhooks/claim";
import { dispatchEvents, dispatchSql } from "@/lib/webhooks/dispatch";
import { addTestClient } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { loopbackAllowed } from "@/test/support/delivering";

const actor = { kind: "admin", via: "cli" } as const;
const eventCount = 1_000_000;
let t: TestService;

beforeAll(async () => {
  t = await createTestService(loopbackAllowed);
  const { clientId } = await addTestClient(t.service);
  const url = "http://127.0.0.1:9/";
  for (let i = 0; i < 3; i += 1)
    await addEndpoint(t.service, { clientId, url, events: i === 0 ? ["client.frozen"] : ["client.unfrozen"] }, actor);
  const db = await t.service.pool.connect();
  await db.query(`SET statement_timeout = 0`);
  await db.query(
    `INSERT INTO "outbox" ("at", "type", "client_id", "data") SELECT clock_timestamp(), 'client.frozen', $1, '{}' FROM generate_series(1, $2)`,
    [clientId, eventCount],
  );
  await db.query(`ANALYZE`);
  db.release(true);
}, 180_000);
afterAll(() => t.stop());

const claimValues = [50, 5, [], [], "00000000-0000-4000-8000-000000000000", 60];

type Plan = {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Rows Removed by Filter"?: number;
  Plans?: Plan[];
};

async function nodesOf(sql: string, values: unknown[]): Promise<Plan[]> {
  const db = await t.service.pool.connect();
  try {
    await db.query("BEGIN");
    const { rows } = await db.query<{ "QUERY PLAN": { Plan: Plan }[] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`,
      values,
    );
    const flatten = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flatten)];
    return flatten(rows[0]?.["QUERY PLAN"][0]?.Plan as Plan);
  } finally {
    await db.query("ROLLBACK");
    db.release();
  }
}

const scansOf = (nodes: Plan[], table: string) =>
  nodes.filter((node) => node["Relation Name"] === table && node["Node Type"].includes("Scan"));

describe("a million events", () => {
  it("are handed out and claimed along their indexes, and no call takes longer for those that wait behind", async () => {
    const dispatching = await nodesOf(dispatchSql, [1_000]);
    expect(scansOf(dispatching, "outbox").some((node) => node["Index Name"] === "outbox_undispatched_idx")).toBe(true);
    expect(scansOf(dispatching, "outbox").filter((node) => node["Node Type"] === "Seq Scan")).toEqual([]);
    const startedAt = performance.now();
    let events = 0;
    for (;;) {
      const batch = await dispatchEvents(t.service.pool, 20_000);
      if (batch.length === 0) break;
      events += batch.reduce((sum, { count }) => sum + count, 0);
    }
    const seconds = (performance.now() - startedAt) / 1000;
    expect(events).toBe(eventCount);
    process.stdout.write(`${eventCount} events were handed out in ${seconds.toFixed(0)} s\n`);

    const claiming = await nodesOf(claimSql, claimValues);
    const due = scansOf(claiming, "webhook_delivery");
    expect(due.some((node) => node["Index Name"] === "webhook_delivery_due_idx")).toBe(true);
    expect(due.filter((node) => node["Node Type"] === "Seq Scan")).toEqual([]);
    expect(due.map((node) => node["Rows Removed by Filter"] ?? 0)).toEqual(due.map(() => 0));
    expect(await claimDeliveries(t.service.pool, new Map())).toHaveLength(5);

    // What waits for another hour is not even looked at.
    const db = await t.service.pool.connect();
    await db.query("SET statement_timeout = 0");
    await db.query(`UPDATE "webhook_delivery" SET "next_at" = clock_timestamp() + INTERVAL '1 hour'`);
    db.release(true);
    const resting = scansOf(await nodesOf(claimSql, claimValues), "webhook_delivery");
    expect(resting.map((node) => node["Rows Removed by Filter"] ?? 0)).toEqual(resting.map(() => 0));
    expect(await claimDeliveries(t.service.pool, new Map())).toEqual([]);
  }, 300_000);
});
