import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eraseSettled } from "@/lib/approvals/erase-settled";
import { settleDue } from "@/lib/approvals/settle-due";
import { takeBack } from "@/lib/approvals/take-back";
import { freezeClient, unfreezeClient } from "@/lib/clients/freeze";
import { pruneFreezes } from "@/lib/clients/prune-freezes";
import { csrfToken } from "@/lib/sessions/csrf";
import { pruneSessions } from "@/lib/sessions/prune";
import { readSession } from "@/lib/sessions/read";
import type { PersonSession } from "@/lib/sessions/session";
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

const actor = { kind: "admin", via: "cli" } as const;

let t: TestService;
let second: TestService;
let client: TestClient;
let ada: Person;
let session: PersonSession;

beforeAll(async () => {
  t = await createTestService({ retainArgumentsSeconds: 0 });
  second = await createTestService({ ...t.service.config, databaseUrl: t.databaseUrl });
  client = await addTestClient(t.service, { maxMintsPerSubjectPerHour: 1_000, maxPendingPerSubject: 100 });
  ada = await addPerson(t.service);
  session = (await signIn(t.service, ada)).session;
});
afterAll(async () => {
  await second.stop();
  await t.stop();
});

const sql = async (text: string, values: unknown[] = []) => (await t.service.pool.query(text, values)).rows;
const rowOf = async (id: string) => (await sql(`SELECT * FROM "approval" WHERE "id" = $1`, [id]))[0];

let count = 0;
/** Each asks for another action, so that no cool-down of one stands in the way of another. */
async function ask(change: Record<string, unknown> = {}): Promise<{ id: string; salt: string; action: object }> {
  count += 1;
  const action = { tool: "delete_project", arguments: { run: count, reason: canary } };
  const minted = await mintApproval(client, ada, { action, metadata: { orderId: `PO-${count}` }, ...change });
  return { id: minted.id, salt: minted.salt ?? "", action };
}

async function accepted(): Promise<{ id: string; salt: string; action: object }> {
  const asked = await ask();
  expect(await decideAs(t.service, session, asked.id, "accept", { note: canary })).toEqual({ kind: "decided" });
  return asked;
}

async function consumed(): Promise<{ id: string; salt: string; consumerToken: string }> {
  const { id, salt, action } = await accepted();
  const consumerToken = randomBytes(32).toString("base64url");
  const { caller } = mintBody(ada);
  const answer = await client.api("POST", `/approvals/${id}/consume`, { caller, action, consumerToken });
  expect(answer.status).toBe(200);
  return { id, salt, consumerToken };
}

const agoSql = (column: string) => `"${column}" = "${column}" - INTERVAL '2 hours'`;
/** As if it had been accepted two hours ago, and consumed then where it was. */
const longAgo = (id: string) =>
  sql(`UPDATE "approval" SET ${["decided_at", "act_by", "consumed_at"].map(agoSql).join(", ")} WHERE "id" = $1`, [id]);

type Kind = { kind: string; make: () => Promise<{ id: string; salt: string }> };

/** Every way to be settled that section 12 names. */
const kinds: Kind[] = [
  ...(["decline", "cancel", "not_requested"] as const).map((choice) => ({
    kind: choice,
    make: async () => {
      const asked = await ask();
      await decideAs(t.service, session, asked.id, choice, { note: canary });
      if (choice === "not_requested") await sql(`UPDATE "freeze" SET "lifted_at" = clock_timestamp()`);
      return asked;
    },
  })),
  {
    kind: "expired",
    make: async () => {
      const asked = await ask();
      await expireIn(t.service, asked.id, 0);
      await settleDue(t.service);
      return asked;
    },
  },
  {
    kind: "withdrawn by the client",
    make: async () => {
      const asked = await ask();
      await client.api("POST", `/approvals/${asked.id}/withdraw`, { reason: "aborted" });
      return asked;
    },
  },
  {
    kind: "withdrawn by the person",
    make: async () => {
      const asked = await accepted();
      const csrf = csrfToken(t.service.secrets, { sid: session.sid, purpose: "take_back", target: asked.id });
      expect(await takeBack(t.service, session, asked.id, csrf)).toEqual({ kind: "taken_back" });
      return asked;
    },
  },
  {
    kind: "withdrawn by the service",
    make: async () => {
      const asked = await accepted();
      await freezeClient(t.service, client.clientId, actor);
      await unfreezeClient(t.service, client.clientId, actor);
      return asked;
    },
  },
  {
    kind: "lapsed",
    make: async () => {
      const asked = await accepted();
      await longAgo(asked.id);
      await settleDue(t.service);
      return asked;
    },
  },
  ...(["succeeded", "failed", "unknown"] as const).map((outcome) => ({
    kind: `outcome ${outcome}`,
    make: async () => {
      const asked = await consumed();
      const { consumerToken } = asked;
      const told = await client.api("POST", `/approvals/${asked.id}/outcome`, { consumerToken, outcome });
      expect(told.status).toBe(200);
      await longAgo(asked.id);
      return asked;
    },
  })),
  {
    kind: "outcome derived",
    make: async () => {
      const asked = await consumed();
      await longAgo(asked.id);
      await settleDue(t.service);
      return asked;
    },
  },
];

const erasedColumns = ["record", "note", "action_tag", "reuse_tag", "match_tag"];
const changedColumns = [...erasedColumns, "erased_at", "version"];
const without = (row: Record<string, unknown>, columns: string[]) =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !columns.includes(name)));

describe("what is settled (section 12)", () => {
  it.each(kinds)(
    "$kind: record, arguments, note, salt and tags go; all else stays as it was, the receipt and the history too",
    async ({ make }) => {
      const { id, salt } = await make();
      const before = await rowOf(id);
      expect([before.settled_at !== null, before.record !== null, before.erased_at]).toEqual([true, true, null]);
      const history = await sql(`SELECT * FROM "audit_event" WHERE "approval_id" = $1 ORDER BY "seq"`, [id]);
      expect(await eraseSettled(t.service)).toBe(1);
      const after = await rowOf(id);
      expect(erasedColumns.map((column) => after[column])).toEqual(erasedColumns.map(() => null));
      expect(without(after, changedColumns)).toEqual(without(before, changedColumns));
      expect(after).toMatchObject({
        argument_names: ["run", "reason"],
        tool: "delete_project",
        title: "Delete project Apollo",
      });
      expect(await sql(`SELECT * FROM "audit_event" WHERE "approval_id" = $1 ORDER BY "seq"`, [id])).toEqual(history);
      expect(history[0].metadata).toEqual({ orderId: `PO-${count}` });
      const status = (await (await client.api("GET", `/approvals/${id}`)).json()) as Record<string, unknown>;
      expect(status).toMatchObject({ id, receipt: before.receipt, actionDigest: before.action_digest });
      await expectNowhere([canary, salt]);
    },
  );

  it("the title goes too where the client marked it so", async () => {
    const presentation = { ...mintBody(ada).presentation, retainTitle: false };
    const { id } = await ask({ presentation });
    await decideAs(t.service, session, id, "cancel");
    await eraseSettled(t.service);
    expect((await rowOf(id)).title).toBeNull();
    await expectNowhere(["Delete project Apollo"], [id]);
  });

  it("goes with retention 0 in the next step, and with another not before its time", async () => {
    const { id } = await ask();
    await decideAs(t.service, session, id, "decline");
    const day = { ...t.service, config: { ...t.service.config, retainArgumentsSeconds: 86_400 } };
    await sql(`UPDATE "approval" SET "settled_at" = "settled_at" - INTERVAL '23 hours 59 minutes' WHERE "id" = $1`, [
      id,
    ]);
    expect(await eraseSettled(day)).toBe(0);
    await sql(`UPDATE "approval" SET "settled_at" = "settled_at" - INTERVAL '2 minutes' WHERE "id" = $1`, [id]);
    expect(await eraseSettled(day)).toBe(1);
  });
});

/** In no column of no table; `ids`: of these approvals alone. */
async function expectNowhere(texts: string[], ids?: string[]): Promise<void> {
  const tables = await sql(
    `SELECT "relname" FROM "pg_class" WHERE "relnamespace" = 'public'::regnamespace AND "relkind" = 'r'`,
  );
  for (const { relname } of ids ? [{ relname: "approval" }] : tables)
    for (const text of texts) {
      const found = await sql(
        `SELECT 1 FROM "${relname}" r WHERE r::text LIKE '%' || $1 || '%'${ids ? ' AND r."id" = ANY($2)' : ""}`,
        ids ? [text, ids] : [text],
      );
      expect([relname, found]).toEqual([relname, []]);
    }
}

describe("what is not settled", () => {
  it("stays whole, however old: pending, accepted within its time, consumed without an outcome; and the database holds no row erased before", async () => {
    const [pending, open, running] = [await ask(), await accepted(), await consumed()];
    expect(await eraseSettled(t.service)).toBe(0);
    for (const { id } of [pending, open, running]) {
      expect((await rowOf(id)).record).not.toBeNull();
      await expect(
        sql(
          `UPDATE "approval" SET "record" = NULL, "note" = NULL, "action_tag" = NULL, "reuse_tag" = NULL, "match_tag" = NULL, "erased_at" = now() WHERE "id" = $1`,
          [id],
        ),
      ).rejects.toThrow(/approval_erasure/);
      await expect(sql(`UPDATE "approval" SET "record" = NULL WHERE "id" = $1`, [id])).rejects.toThrow(
        /approval_erasure/,
      );
    }
    for (const { id } of [pending, open]) await client.api("POST", `/approvals/${id}/withdraw`, { reason: "aborted" });
    const { id, consumerToken } = running;
    await client.api("POST", `/approvals/${id}/outcome`, { consumerToken, outcome: "succeeded" });
    await longAgo(id);
    expect(await eraseSettled(t.service)).toBe(3);
  });

  it("a step that is cut in the middle erases nothing at all", async () => {
    const asked = [await ask(), await ask(), await ask()];
    for (const { id } of asked) await decideAs(t.service, session, id, "cancel");
    const last = asked.at(-1)?.id ?? "";
    await sql(
      `CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         IF NEW.id = '${last}' THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF; RETURN NEW; END $$;
       CREATE TRIGGER cut BEFORE UPDATE ON "approval" FOR EACH ROW EXECUTE FUNCTION cut()`,
    );
    await expect(eraseSettled(t.service)).rejects.toThrow(/terminat/i);
    for (const { id } of asked) expect(await rowOf(id)).toMatchObject({ erased_at: null, record: expect.any(String) });
    await sql(`DROP TRIGGER cut ON "approval"; DROP FUNCTION cut()`);
    expect(await eraseSettled(t.service)).toBe(3);
  });
});

describe("several workers", () => {
  it("erase each approval once, and none stands in the way of another", async () => {
    const { id } = await ask();
    await decideAs(t.service, session, id, "cancel");
    await sql(
      `INSERT INTO "approval" SELECT (jsonb_populate_record(a, jsonb_build_object('id', 'apr_copy' || i))).* FROM "approval" a, generate_series(1, 700) i WHERE a."id" = $1`,
      [id],
    );
    const version = (await rowOf(id)).version;
    const steps = await Promise.all([eraseSettled(t.service), eraseSettled(second.service), eraseSettled(t.service)]);
    let erased = steps.reduce((sum, n) => sum + n, 0);
    for (let more = -1; more !== 0; erased += more) more = await eraseSettled(second.service);
    expect(erased).toBe(701);
    const rows = await sql(`SELECT DISTINCT "version" FROM "approval" WHERE "id" LIKE 'apr_copy%' OR "id" = $1`, [id]);
    expect(rows).toEqual([{ version: version + 1 }]);
  });
});

describe("idempotency rows", () => {
  it("hold a keyed tag of 32 bytes and an id, never a body; after a day they are gone", async () => {
    const body = mintBody(ada, { action: { tool: "t", arguments: { reason: canary, n: ++count } } });
    const minted = await client.api("POST", "/approvals", body, { "Idempotency-Key": "key-1" });
    const { id } = (await minted.json()) as { id: string };
    const [row] = await sql(`SELECT * FROM "idempotency_key"`);
    expect(row).toEqual({
      client_id: client.clientId,
      route: "mint",
      key: "key-1",
      body_tag: expect.any(Buffer),
      approval_id: id,
      created_at: expect.any(Date),
    });
    expect(row.body_tag).toHaveLength(32);
    await sql(`UPDATE "idempotency_key" SET "created_at" = "created_at" - INTERVAL '24 hours 1 second'`);
    await eraseSettled(t.service);
    expect(await sql(`SELECT * FROM "idempotency_key"`)).toEqual([]);
  });
});

describe("what else would grow for ever", () => {
  it("sessions go 30 days after they ended or could hold no more, and their cookies stay refused", async () => {
    const grace = await addPerson(t.service, "Grace");
    const [live, ended, old, fresh] = [
      await signIn(t.service, grace),
      await signIn(t.service, grace),
      await signIn(t.service, grace),
      await signIn(t.service, grace),
    ];
    await sql(`UPDATE "session" SET "revoked_at" = clock_timestamp() - INTERVAL '30 days 1 minute' WHERE "sid" = $1`, [
      ended.session.sid,
    ]);
    await sql(`UPDATE "session" SET "created_at" = clock_timestamp() - INTERVAL '37 days 1 minute' WHERE "sid" = $1`, [
      old.session.sid,
    ]);
    await sql(
      `UPDATE "session" SET "created_at" = clock_timestamp() - INTERVAL '36 days', "revoked_at" = clock_timestamp() - INTERVAL '29 days' WHERE "sid" = $1`,
      [fresh.session.sid],
    );
    expect(await pruneSessions(t.service.pool)).toBe(2);
    const left = await sql(`SELECT "sid" FROM "session" WHERE "user_id" = $1 ORDER BY "created_at"`, [grace.userId]);
    expect(left.map(({ sid }) => sid)).toEqual([fresh.session.sid, live.session.sid]);
    expect(await readSession(t.service, new Headers({ cookie: live.cookie }))).toBeDefined();
    for (const { cookie } of [ended, old, fresh])
      expect(await readSession(t.service, new Headers({ cookie }))).toBeUndefined();
  });

  it("freezes go 30 days after they were lifted or ran out; those that stand stay, however old", async () => {
    await sql(`DELETE FROM "freeze"`);
    const add = (id: string, until: string | null, lifted: string | null) =>
      sql(
        `INSERT INTO "freeze" ("id", "client_id", "reason", "created_at", "until", "lifted_at")
         VALUES ($1, $2, 'admin', clock_timestamp() - INTERVAL '1 year', clock_timestamp() + $3::interval, clock_timestamp() + $4::interval)`,
        [id, client.clientId, until, lifted],
      );
    await add("frz_stands", null, null);
    await add("frz_until", "1 hour", null);
    await add("frz_lifted", null, "-29 days");
    await add("frz_lifted_old", null, "-31 days");
    await add("frz_over_old", "-31 days", null);
    await add("frz_lifted_early", "1 year", "-31 days");
    await add("frz_lifted_after", "-31 days", "-29 days");
    expect(await pruneFreezes(t.service.pool)).toBe(4);
    const left = await sql(`SELECT "id" FROM "freeze" ORDER BY 1`);
    expect(left.map(({ id }) => id)).toEqual(["frz_lifted", "frz_stands", "frz_until"]);
    await sql(`DELETE FROM "freeze"`);
  });
});
