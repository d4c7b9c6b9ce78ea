import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { takeBack } from "@/lib/approvals/take-back";
import { csrfToken } from "@/lib/sessions/csrf";
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
import { expireIn } from "@/test/support/deadline";
import { decideAs } from "@/test/support/deciding";

let t: TestService;
let client: TestClient;
let ada: Person;

beforeAll(async () => {
  t = await createTestService();
  client = await addTestClient(t.service);
  ada = await addPerson(t.service);
});
afterAll(() => t.stop());

const newToken = () => randomBytes(32).toString("base64url");
const callerOf = (person: Person) => ({ iss: person.iss, sub: person.sub, clientId: "chat-app" });
const { action } = mintBody({ iss: "", sub: "" });

async function statusOf(id: string) {
  const response = await client.api("GET", `/approvals/${id}`);
  const body = (await response.json()) as Record<
    "status" | "next" | "decision" | "note" | "reason" | "receipt",
    unknown
  >;
  return { http: response.status, ...body };
}

async function consume(id: string, change: Record<string, unknown> = {}) {
  const response = await client.api("POST", `/approvals/${id}/consume`, {
    caller: callerOf(ada),
    consumerToken: newToken(),
    action,
    ...change,
  });
  const body = (await response.json()) as Record<string, unknown>;
  return { http: response.status, code: body["code"] ?? null, ...body };
}

describe("the gate", () => {
  it("I13: before a decision nothing can be consumed", async () => {
    const { id } = await mintApproval(client, ada);
    expect(await statusOf(id)).toMatchObject({ status: "pending", next: "wait" });
    expect(await consume(id)).toMatchObject({ http: 409, code: "not_accepted" });
  });

  it("I5: an accepted approval is consumed once, its attempt's retry is replayed, every other token is refused", async () => {
    const { session } = await signIn(t.service, ada);
    const { id } = await mintApproval(client, ada);
    expect(await decideAs(t.service, session, id, "accept")).toEqual({ kind: "decided" });
    expect(await statusOf(id)).toMatchObject({ status: "accepted", next: "run", decision: "accept", consumed: false });
    const consumerToken = newToken();
    expect(await consume(id, { consumerToken })).toMatchObject({ http: 200, granted: true, replayed: false });
    expect(await consume(id, { consumerToken })).toMatchObject({ http: 200, granted: true, replayed: true });
    expect(await consume(id)).toMatchObject({ http: 409, code: "already_consumed", outcome: null });
    const reported = await client.api("POST", `/approvals/${id}/outcome`, { consumerToken, outcome: "succeeded" });
    expect([reported.status, await reported.json()]).toMatchObject([
      200,
      { status: "accepted", next: "done", consumed: true, outcome: "succeeded" },
    ]);
    expect(await consume(id)).toMatchObject({ code: "already_consumed", outcome: "succeeded" });
  });

  it("the endings read differently and none of them runs", async () => {
    const { session } = await signIn(t.service, ada);
    const endings: Record<string, unknown> = {};
    for (const choice of ["decline", "cancel"] as const) {
      const { id } = await mintApproval(client, ada, {
        action: { tool: "delete_project", arguments: { project_id: choice } },
      });
      await decideAs(t.service, session, id, choice, { note: `because ${choice}` });
      const { status, next, decision, note } = await statusOf(id);
      endings[choice] = {
        status,
        next,
        decision,
        note,
        consume: (await consume(id, { action: { tool: "delete_project", arguments: { project_id: choice } } })).code,
      };
    }
    const { id } = await mintApproval(client, ada);
    await client.api("POST", `/approvals/${id}/withdraw`, { reason: "aborted" });
    const { status, next, reason } = await statusOf(id);
    endings["withdraw"] = { status, next, reason, consume: (await consume(id)).code };
    expect(endings).toEqual({
      decline: {
        status: "declined",
        next: "stop",
        decision: "decline",
        note: "because decline",
        consume: "not_accepted",
      },
      cancel: {
        status: "cancelled",
        next: "stop",
        decision: "cancel",
        note: "because cancel",
        consume: "not_accepted",
      },
      withdraw: { status: "withdrawn", next: "stop", reason: "aborted", consume: "not_accepted" },
    });
  });

  it("I3, I15: another action, another caller, another MCP client or other preconditions consume nothing", async () => {
    const { session } = await signIn(t.service, ada);
    const eve = await addPerson(t.service, "Eve");
    const { id } = await mintApproval(client, ada, { preconditions: { etag: "v7" } });
    await decideAs(t.service, session, id, "accept");
    const preconditions = { etag: "v7" };
    expect(
      (
        await consume(id, {
          preconditions,
          action: { tool: "delete_project", arguments: { ...action.arguments, project_id: "p_43" } },
        })
      ).code,
    ).toBe("action_mismatch");
    expect((await consume(id, { preconditions, action: { ...action, tool: "delete_everything" } })).code).toBe(
      "action_mismatch",
    );
    expect(
      (await consume(id, { preconditions, action: undefined, actionDigest: `sha256:${"0".repeat(64)}` })).code,
    ).toBe("action_mismatch");
    expect((await consume(id, { preconditions, caller: callerOf(eve) })).code).toBe("caller_mismatch");
    expect(
      (await consume(id, { preconditions, caller: { ...callerOf(ada), iss: "https://other.example" } })).code,
    ).toBe("caller_mismatch");
    expect((await consume(id, { preconditions, caller: { ...callerOf(ada), clientId: "other-app" } })).code).toBe(
      "caller_mismatch",
    );
    expect((await consume(id)).code).toBe("stale");
    expect((await consume(id, { preconditions: { etag: "v8" } })).code).toBe("stale");
    expect(await consume(id, { preconditions })).toMatchObject({ http: 200, granted: true });
  });

  it("I2, I12: what was taken back cannot be consumed; what was consumed cannot be taken back", async () => {
    const { session } = await signIn(t.service, ada);
    const csrf = (id: string) => csrfToken(t.service.secrets, { sid: session.sid, purpose: "take_back", target: id });
    const first = await mintApproval(client, ada);
    await decideAs(t.service, session, first.id, "accept");
    expect(await takeBack(t.service, session, first.id, csrf(first.id))).toEqual({ kind: "taken_back" });
    expect(await statusOf(first.id)).toMatchObject({ status: "withdrawn", reason: "taken_back", next: "stop" });
    expect((await consume(first.id)).code).toBe("not_accepted");
    const second = await mintApproval(client, ada);
    await decideAs(t.service, session, second.id, "accept");
    await consume(second.id);
    expect(await takeBack(t.service, session, second.id, csrf(second.id))).toEqual({ kind: "too_late" });
    expect(
      (await (await client.api("POST", `/approvals/${second.id}/withdraw`, { reason: "aborted" })).json()) as object,
    ).toMatchObject({ code: "already_consumed" });
  });

  it("I6: an answer after the deadline decides nothing and the approval has expired", async () => {
    const { session } = await signIn(t.service, ada);
    const { id } = await mintApproval(client, ada);
    await expireIn(t.service, id, 0);
    expect(await decideAs(t.service, session, id, "accept")).toEqual({ kind: "already_decided" });
    expect(await statusOf(id)).toMatchObject({ status: "expired", next: "stop" });
    expect((await consume(id)).code).toBe("not_accepted");
  });

  it("I12: an approval that nobody used in time is not consumable, though it was accepted", async () => {
    const { session } = await signIn(t.service, ada);
    const { id } = await mintApproval(client, ada, { actBySeconds: 10 });
    await decideAs(t.service, session, id, "accept");
    await t.service.pool.query(
      `UPDATE "approval" SET "act_by" = clock_timestamp() - INTERVAL '1 millisecond' WHERE "id" = $1`,
      [id],
    );
    // Moving the column is not moving the window: the signed receipt names it, so this reads as tampering.
    expect((await consume(id)).code).toBe("integrity_failed");
  });

  it("I9, I8: each change has its audit event and its outbox row, and none holds an argument value", async () => {
    const { session } = await signIn(t.service, ada);
    const { id } = await mintApproval(client, ada);
    await decideAs(t.service, session, id, "accept", { note: canary });
    const consumerToken = newToken();
    await consume(id, { consumerToken });
    await client.api("POST", `/approvals/${id}/outcome`, { consumerToken, outcome: "failed", code: "timeout" });
    const audit = await t.service.pool.query<{ type: string; approval_seq: number }>(
      `SELECT * FROM "audit_event" WHERE "approval_id" = $1 ORDER BY "seq"`,
      [id],
    );
    expect(audit.rows.map((row) => [row.type, row.approval_seq])).toEqual([
      ["approval.minted", 1],
      ["approval.accepted", 2],
      ["approval.consumed", 3],
      ["approval.outcome", 4],
    ]);
    const outbox = await t.service.pool.query<{ type: string; approval_seq: number }>(
      `SELECT * FROM "outbox" WHERE "approval_id" = $1 ORDER BY "id"`,
      [id],
    );
    expect(outbox.rows.map((row) => [row.type, row.approval_seq])).toEqual([
      ["approval.accepted", 2],
      ["approval.consumed", 3],
      ["approval.outcome", 4],
    ]);
    expect(JSON.stringify([audit.rows, outbox.rows])).not.toContain(canary);
    const { receipt } = await statusOf(id);
    expect(Buffer.from(String(receipt).split(".")[1] ?? "", "base64url").toString()).not.toContain(canary);
  });
});
