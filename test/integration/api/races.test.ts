import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decide } from "@/lib/approvals/decide";
import { settleDue } from "@/lib/approvals/settle-due";
import { commitChange, readApproval } from "@/lib/approvals/store";
import { takeBack } from "@/lib/approvals/take-back";
import { type Command, transition } from "@/lib/approvals/transitions";
import { freezeClient } from "@/lib/clients/freeze";
import { csrfToken } from "@/lib/sessions/csrf";
import {
  addPerson,
  addTestClient,
  apiFor,
  mintApproval,
  mintBody,
  type Person,
  signIn,
  type TestClient,
} from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { expireIn } from "@/test/support/deadline";
import { decideAs, formFor } from "@/test/support/deciding";

let t: TestService;
let second: TestService;
let client: TestClient;
let ada: Person;

// Two services over one database: what holds here holds for two processes, since they share nothing but the rows.
beforeAll(async () => {
  t = await createTestService({ databasePoolMax: 30 });
  second = await createTestService({ ...t.service.config, databaseUrl: t.databaseUrl });
  client = await addTestClient(t.service, { maxMintsPerSubjectPerHour: 100_000, maxPendingPerSubject: 1_000 });
  ada = await addPerson(t.service);
});
afterAll(async () => {
  await second.stop();
  await t.stop();
});

const newToken = () => randomBytes(32).toString("base64url");
const consumeBody = (change: object = {}) => ({
  caller: mintBody(ada).caller,
  action: mintBody(ada).action,
  consumerToken: newToken(),
  ...change,
});

/** Holds the row of an approval in a transaction of its own until `work` has been started, then for `holdMs` more. */
async function whileLocked<T>(
  id: string,
  holdMs: number,
  work: () => Promise<T>,
  before: (db: pg.Client) => Promise<unknown> = async () => {},
): Promise<T> {
  const holder = new pg.Client({ connectionString: t.databaseUrl });
  await holder.connect();
  await holder.query("BEGIN");
  await holder.query(`SELECT 1 FROM "approval" WHERE "id" = $1 FOR UPDATE`, [id]);
  const started = work();
  await waitUntilBlocked(holder);
  await holder.query("SELECT pg_sleep($1)", [holdMs / 1000]);
  await before(holder);
  await holder.query("COMMIT");
  await holder.end();
  return started;
}

async function waitUntilBlocked(holder: pg.Client): Promise<void> {
  for (let i = 0; i < 500; i += 1) {
    const { rows } = await holder.query(
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
    );
    if (rows[0]?.n > 0) return;
    await holder.query("SELECT pg_sleep(0.01)");
  }
  throw new Error("nothing waited for the lock");
}

describe("races", () => {
  it("I4: of 50 concurrent decisions over two services one wins; equal losers get its result, others are told", async () => {
    const { session } = await signIn(t.service, ada);
    const { id } = await mintApproval(client, ada);
    const choices = Array.from({ length: 50 }, (_, i) => (["accept", "decline", "cancel"] as const)[i % 3] ?? "accept");
    const forms = await Promise.all(choices.map((choice) => formFor(t.service, session, id, choice)));
    const results = await Promise.all(
      forms.map((form, i) => decide(i % 2 ? t.service : second.service, session, id, form)),
    );
    const { rows } = await t.service.pool.query(
      `SELECT "decision", (SELECT count(*)::int FROM "audit_event" e WHERE e."approval_id" = a."id" AND e."decision" IS NOT NULL) AS n FROM "approval" a WHERE "id" = $1`,
      [id],
    );
    expect(rows[0]?.n).toBe(1);
    expect(results.map((r) => r.kind)).toEqual(
      choices.map((choice) => (choice === rows[0]?.decision ? "decided" : "already_decided")),
    );
  });

  it("I5: of 50 concurrent consumes over two services exactly one is granted", async () => {
    const { session } = await signIn(t.service, ada);
    const { id } = await mintApproval(client, ada);
    await decideAs(t.service, session, id, "accept");
    const apis = [client.api, apiFor(second.service, client.apiKey)];
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        (apis[i % 2] ?? client.api)("POST", `/approvals/${id}/consume`, consumeBody()),
      ),
    );
    expect(answers.filter((a) => a.status === 200)).toHaveLength(1);
    const codes = await Promise.all(
      answers.filter((a) => a.status !== 200).map(async (a) => ((await a.json()) as { code: string }).code),
    );
    expect(new Set(codes)).toEqual(new Set(["already_consumed"]));
    const { rows } = await t.service.pool.query(
      `SELECT count(*)::int AS n FROM "audit_event" WHERE "approval_id" = $1 AND "type" = 'approval.consumed'`,
      [id],
    );
    expect(rows[0]?.n).toBe(1);
  });

  it("I14: 20 concurrent retries of one attempt are granted alike, and it counts once", async () => {
    const { session } = await signIn(t.service, ada);
    const { id } = await mintApproval(client, ada);
    await decideAs(t.service, session, id, "accept");
    const body = consumeBody();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => client.api("POST", `/approvals/${id}/consume`, body)),
    );
    const replayed = await Promise.all(answers.map(async (a) => ((await a.json()) as { replayed: boolean }).replayed));
    expect([replayed.length, replayed.filter((r) => r === false).length]).toEqual([20, 1]);
  });

  it("I6: an accept that waited for the row lock past the deadline is not one", async () => {
    const { session } = await signIn(t.service, ada);
    const { id } = await mintApproval(client, ada);
    await expireIn(t.service, id, 2);
    const form = await formFor(t.service, session, id, "accept");
    const result = await whileLocked(id, 2_200, () => decide(t.service, session, id, form));
    expect(result).toEqual({ kind: "already_decided" });
    expect((await (await client.api("GET", `/approvals/${id}`)).json()) as object).toMatchObject({
      status: "expired",
      next: "stop",
    });
  });

  it("I12: a consume that waited for the row lock past act-by is not granted", async () => {
    const { session } = await signIn(t.service, ada);
    const { id } = await mintApproval(client, ada, { actBySeconds: 10 });
    await decideAs(t.service, session, id, "accept");
    const { rows } = await t.service.pool.query<{ ms: number }>(
      `SELECT extract(epoch FROM "act_by" - clock_timestamp()) * 1000 AS ms FROM "approval" WHERE "id" = $1`,
      [id],
    );
    const leftMs = Number(rows[0]?.ms);
    const response = await whileLocked(id, leftMs + 200, () =>
      client.api("POST", `/approvals/${id}/consume`, consumeBody()),
    );
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([409, "lapsed"]);
  });

  it("I5: a consume that waited behind a withdrawal, a take-back or a freeze is not granted", async () => {
    const { session } = await signIn(t.service, ada);
    for (const reason of ["aborted", "taken_back", "frozen"]) {
      const { id } = await mintApproval(client, ada);
      await decideAs(t.service, session, id, "accept");
      const response = await whileLocked(
        id,
        0,
        () => client.api("POST", `/approvals/${id}/consume`, consumeBody()),
        (db) =>
          db.query(
            `UPDATE "approval" SET "status" = 'withdrawn', "reason" = $2, "act_by" = NULL, "settled_at" = clock_timestamp(), "version" = "version" + 1 WHERE "id" = $1`,
            [id, reason],
          ),
      );
      expect([reason, response.status, ((await response.json()) as { code: string }).code]).toEqual([
        reason,
        reason === "frozen" ? 403 : 409,
        reason === "frozen" ? "frozen" : "not_accepted",
      ]);
    }
  });

  it("an accept and a withdrawal, or an accept and a freeze, that waited for one row: one of them stands, and what does not stand does not run", async () => {
    const { session } = await signIn(t.service, ada);
    const actor = { kind: "admin", via: "cli" } as const;
    for (const other of ["withdraw", "freeze", "withdraw", "freeze"]) {
      const own = await addTestClient(t.service);
      const { id } = await mintApproval(own, ada);
      const form = await formFor(t.service, session, id, "accept");
      const against = () =>
        other === "withdraw"
          ? own.api("POST", `/approvals/${id}/withdraw`, { reason: "aborted" })
          : freezeClient(t.service, own.clientId, actor);
      await whileLocked(id, 0, () => Promise.all([decide(second.service, session, id, form), against()]));
      const { status } = (await (await own.api("GET", `/approvals/${id}`)).json()) as { status: string };
      const consumed = await own.api("POST", `/approvals/${id}/consume`, consumeBody());
      // Whichever came first: a withdrawal also ends what was accepted a moment before.
      expect([other, status, consumed.status]).toEqual([other, "withdrawn", other === "freeze" ? 403 : 409]);
    }
  });

  it("a freeze that falls between reading and writing stops an accept and a consume, though it has withdrawn nothing yet", async () => {
    const { session } = await signIn(t.service, ada);
    const own = await addTestClient(t.service);
    const [pending, accepted] = [await mintApproval(own, ada), await mintApproval(own, ada)];
    await decideAs(t.service, session, accepted.id, "accept");
    const before = [await readApproval(t.service.pool, pending.id), await readApproval(t.service.pool, accepted.id)];
    await t.service.pool.query(`INSERT INTO "freeze" ("id", "client_id", "reason") VALUES ('frz_1', $1, 'admin')`, [
      own.clientId,
    ]);
    const commands: Command[] = [
      { kind: "decide", decision: "accept" },
      { kind: "consume", consumerHash: new Uint8Array(32) },
    ];
    for (const [i, command] of commands.entries()) {
      const read = before[i];
      const step = read && transition(read.approval, command, read.now);
      if (!read || !step?.ok) throw new Error("the transition is not allowed");
      const to = step.next.status === "accepted" ? { ...step.next, receipt: "never stored" } : step.next;
      expect(
        await commitChange(t.service.pool, { from: read.approval, to, event: step.event, actor: { kind: "service" } }),
      ).toBe(false);
    }
    expect(await readApproval(t.service.pool, pending.id)).toMatchObject({
      approval: { status: "pending" },
      isFrozen: true,
    });
  });

  it("take-back against consume: never both", async () => {
    const { session } = await signIn(t.service, ada);
    for (let i = 0; i < 20; i += 1) {
      const { id } = await mintApproval(client, ada);
      await decideAs(t.service, session, id, "accept");
      const csrf = csrfToken(t.service.secrets, { sid: session.sid, purpose: "take_back", target: id });
      const [taken, consumed] = await Promise.all([
        takeBack(second.service, session, id, csrf),
        client.api("POST", `/approvals/${id}/consume`, consumeBody()),
      ]);
      expect([taken.kind === "taken_back", consumed.status === 200].filter(Boolean)).toHaveLength(1);
    }
  });

  it("two workers settle each expired approval once, with one receipt and one event", async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, async () => (await mintApproval(client, ada)).id));
    for (const id of ids) await expireIn(t.service, id, 0);
    await Promise.all([settleDue(t.service), settleDue(second.service), settleDue(t.service)]);
    const { rows } = await t.service.pool.query(
      `SELECT a."status", count(e.*)::int AS n FROM "approval" a JOIN "audit_event" e ON e."approval_id" = a."id" AND e."type" = 'approval.expired' WHERE a."id" = ANY($1) GROUP BY a."id"`,
      [ids],
    );
    expect(rows).toEqual(ids.map(() => ({ status: "expired", n: 1 })));
  });
});
