import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eraseSettled } from "@/lib/approvals/erase-settled";
import { settleDue } from "@/lib/approvals/settle-due";
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
import { decideAs } from "@/test/support/deciding";

let t: TestService;
let client: TestClient;
let ada: Person;

beforeAll(async () => {
  t = await createTestService({ retainArgumentsSeconds: 3_600 });
  client = await addTestClient(t.service);
  ada = await addPerson(t.service);
});
afterAll(() => t.stop());

const rowOf = async (id: string) =>
  (await t.service.pool.query(`SELECT * FROM "approval" WHERE "id" = $1`, [id])).rows[0];
const sql = (text: string, values: unknown[] = []) => t.service.pool.query(text, values);

describe("arguments do not outlive their use (section 12)", () => {
  it("erases a settled approval after the retention time, and keeps that and who", async () => {
    const { session } = await signIn(t.service, ada);
    const [settled, live] = [
      await mintApproval(client, ada, { metadata: { orderId: "PO-1" } }),
      await mintApproval(client, ada),
    ];
    await decideAs(t.service, session, settled.id, "decline", { note: canary });
    expect(await eraseSettled(t.service)).toBe(0);
    await sql(`UPDATE "approval" SET "settled_at" = "settled_at" - INTERVAL '2 hours' WHERE "id" = $1`, [settled.id]);
    expect(await eraseSettled(t.service)).toBe(1);
    expect(await rowOf(settled.id)).toMatchObject({
      record: null,
      note: null,
      action_tag: null,
      reuse_tag: null,
      title: "Delete project Apollo",
      argument_names: ["project_id", "expected_items", "reason"],
      receipt: expect.any(String),
      status: "declined",
    });
    expect(JSON.stringify(await rowOf(settled.id))).not.toContain(canary);
    expect((await rowOf(live.id)).record).not.toBeNull();
    const status = (await (await client.api("GET", `/approvals/${settled.id}`)).json()) as Record<string, unknown>;
    expect(status).toMatchObject({ status: "declined", decision: "decline", receipt: expect.any(String) });
    expect(status["note"]).toBeUndefined();
  });

  it("erases the title too where the client asked for it", async () => {
    const { session } = await signIn(t.service, ada);
    const { id } = await mintApproval(client, ada, {
      presentation: { ...mintBody(ada).presentation, retainTitle: false },
      action: { tool: "t", arguments: {} },
    });
    await decideAs(t.service, session, id, "cancel");
    await sql(`UPDATE "approval" SET "settled_at" = "settled_at" - INTERVAL '2 hours' WHERE "id" = $1`, [id]);
    await eraseSettled(t.service);
    expect((await rowOf(id)).title).toBeNull();
  });

  it("a consumed approval without a report becomes unknown after 900 s; a late report replaces that", async () => {
    const { session } = await signIn(t.service, ada);
    const { id } = await mintApproval(client, ada, { action: { tool: "u", arguments: {} } });
    await decideAs(t.service, session, id, "accept");
    const consumerToken = randomBytes(32).toString("base64url");
    await client.api("POST", `/approvals/${id}/consume`, {
      caller: mintBody(ada).caller,
      action: { tool: "u", arguments: {} },
      consumerToken,
    });
    await sql(`UPDATE "approval" SET "consumed_at" = "consumed_at" - INTERVAL '901 seconds' WHERE "id" = $1`, [id]);
    await settleDue(t.service);
    expect((await (await client.api("GET", `/approvals/${id}`)).json()) as object).toMatchObject({
      outcome: "unknown",
      next: "done",
    });
    const late = await client.api("POST", `/approvals/${id}/outcome`, { consumerToken, outcome: "succeeded" });
    expect([late.status, await late.json()]).toMatchObject([200, { outcome: "succeeded" }]);
    const other = await client.api("POST", `/approvals/${id}/outcome`, {
      consumerToken: "A".repeat(43),
      outcome: "failed",
    });
    expect(((await other.json()) as { code: string }).code).toBe("consumer_mismatch");
    const changed = await client.api("POST", `/approvals/${id}/outcome`, { consumerToken, outcome: "failed" });
    expect(((await changed.json()) as { code: string }).code).toBe("outcome_already_reported");
  });

  it("idempotency rows and audit events hold no argument values, erased or not (I9)", async () => {
    await client.api("POST", "/approvals", mintBody(ada, { action: { tool: "v", arguments: { secret: canary } } }), {
      "Idempotency-Key": "k1",
    });
    for (const table of ["idempotency_key", "audit_event", "outbox", "decline_cooldown"]) {
      const { rows } = await sql(`SELECT * FROM "${table}"`);
      expect(JSON.stringify(rows)).not.toContain(canary);
    }
  });
});
