import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listAudit } from "@/lib/audit/list";
import { readAudited } from "@/lib/audit/read";
import { bringUpToDate } from "@/lib/database/bring-up-to-date";
import { checkHistory } from "@/lib/doctor/history";
import { addPerson, addTestClient, mintApproval, type Person, signIn, type TestClient } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";
import { startOwnPostgres } from "@/test/support/own-postgres";
import { createTwoRoles, queryAs, type TwoRoles } from "@/test/support/service-role";

let roles: TwoRoles;
let t: TestService;
let client: TestClient;
let ada: Person;
let before: { seq: string; type: string }[];
let steps: string[];

// The recipe is that of docs/audit.md, step by step as an operator would run it, on a database with rows, under a running service.
beforeAll(async () => {
  roles = await createTwoRoles();
  t = await createTestService({ databaseUrl: roles.serviceUrl });
  client = await addTestClient(t.service);
  ada = await addPerson(t.service);
  await decideNew("accept");
  before = await history();
  const text = await readFile(path.resolve(import.meta.dirname, "../../docs/audit.md"), "utf8");
  steps = [...text.matchAll(/```sql\n(-- \d\.[\s\S]*?)```/g)].map((match) => match[1] ?? "");
  expect(steps.map((step) => step.slice(0, 5))).toEqual(["-- 1.", "-- 2.", "-- 3."]);
  await queryAs(roles.ownerUrl, steps[0] ?? "");
  await queryAs(roles.ownerUrl, steps[1] ?? "");
});
afterAll(() => t.stop());

async function history(): Promise<{ seq: string; type: string }[]> {
  const { rows } = await t.service.pool.query(`SELECT "seq", "type" FROM "audit_event" ORDER BY "seq"`);
  return rows;
}

async function decideNew(choice: "accept" | "decline"): Promise<string> {
  const { session } = await signIn(t.service, ada);
  const { id } = await mintApproval(client, ada, { action: { tool: "t", arguments: { choice } } });
  expect(await decideAs(t.service, session, id, choice)).toEqual({ kind: "decided" });
  return id;
}

async function refusalOf(url: string, sql: string): Promise<string | undefined> {
  return queryAs(url, sql).then(
    () => undefined,
    (error: Error) => error.message,
  );
}

describe("the history by month", () => {
  it("keeps every row, its order and its number, and goes on with the numbers", async () => {
    expect(before.length).toBeGreaterThan(4);
    expect((await history()).slice(0, before.length)).toEqual(before);
    const id = await decideNew("decline");
    const after = await history();
    expect(BigInt(after.at(-1)?.seq ?? 0)).toBeGreaterThan(BigInt(before.at(-1)?.seq ?? 0));
    expect(new Set(after.map(({ seq }) => seq)).size).toBe(after.length);
    const auditor = await signIn(t.service, await addPerson(t.service, "Aude", ["auditor"]));
    expect((await listAudit(t.service, auditor.session, {}))?.events.length).toBeGreaterThan(before.length);
    const audited = await readAudited(t.service, auditor.session, id);
    expect(audited?.events.map(({ type }) => type)).toEqual(["approval.minted", "approval.declined"]);
    expect(audited?.receipt?.verdict).toBe("genuine");
  });

  it("puts each instant into its month, and what has none into the rest", async () => {
    const year = new Date().getUTCFullYear();
    const append = `INSERT INTO "audit_event" ("at", "type", "actor") VALUES ($1, 'approval.minted', '{"kind":"service"}') RETURNING tableoid::regclass::text AS "part"`;
    const parts: string[] = [];
    for (const at of ["2020-01-01T00:00:00Z", `${year + 1}-03-31T23:59:59.999Z`, `${year + 9}-01-01T00:00:00Z`])
      parts.push((await queryAs(roles.ownerUrl, append, [at])).rows[0].part);
    expect(parts).toEqual(["audit_event_before", `audit_event_${year + 1}_03`, "audit_event_other"]);
  });

  it("is append-only in every part by its own name too, for the owner and a superuser", async () => {
    const { rows } = await queryAs(
      roles.ownerUrl,
      `SELECT inhrelid::regclass::text AS "part" FROM pg_inherits WHERE inhparent = 'audit_event'::regclass`,
    );
    expect(rows).toHaveLength(26);
    for (const { part } of [...rows, { part: "audit_event" }]) {
      // A row in each, so that a trigger of rows has one to refuse.
      if (part !== "audit_event")
        await queryAs(
          roles.ownerUrl,
          `INSERT INTO "audit_event" ("at", "type", "actor") SELECT ${atIn(part)}, 'approval.minted', '{}'`,
        );
      for (const url of [roles.ownerUrl, roles.superuserUrl])
        for (const sql of [`UPDATE ${part} SET "reason" = 'x'`, `DELETE FROM ${part}`, `TRUNCATE ${part}`])
          expect([sql, await refusalOf(url, sql)]).toEqual([sql, "audit_event is append-only"]);
      const replica = `SET session_replication_role = 'replica'; DELETE FROM ${part}`;
      expect(await refusalOf(roles.superuserUrl, replica)).toBe("audit_event is append-only");
    }
  });

  it("gives the role that serves no right on a part, and none to take one out", async () => {
    await bringUpToDate({ url: roles.serviceUrl, ownerUrl: roles.ownerUrl }, { info: () => {}, warn: () => {} });
    const year = new Date().getUTCFullYear();
    for (const part of ["audit_event_before", "audit_event_other", `audit_event_${year + 1}_03`]) {
      for (const sql of [`UPDATE ${part} SET "reason" = 'x'`, `DELETE FROM ${part}`, `TRUNCATE ${part}`])
        expect(await refusalOf(roles.serviceUrl, sql)).toMatch(/permission denied/);
      expect(
        await refusalOf(roles.serviceUrl, `INSERT INTO ${part} ("at", "type", "actor") VALUES (now(), 'x', '{}')`),
      ).toMatch(/permission denied/);
    }
    const detach = `ALTER TABLE "audit_event" DETACH PARTITION "audit_event_before"`;
    expect(await refusalOf(roles.serviceUrl, detach)).toMatch(/must be owner/);
    expect(await refusalOf(roles.serviceUrl, `DROP TABLE "audit_event_before"`)).toMatch(/must be owner/);
  });

  it("passes the doctor part by part, and one part without its trigger does not", async () => {
    expect(await checkHistory(t.service.pool)).toMatchObject({
      status: "ok",
      message: expect.stringContaining("on 27 parts"),
    });
    await queryAs(roles.ownerUrl, `DROP TRIGGER "audit_event_append_only" ON "audit_event_other"`);
    expect(await checkHistory(t.service.pool)).toMatchObject({
      status: "failed",
      message: expect.stringContaining("audit_event_other has no trigger that refuses TRUNCATE"),
    });
    await queryAs(
      roles.ownerUrl,
      `CREATE TRIGGER "audit_event_append_only" BEFORE TRUNCATE ON "audit_event_other"
         FOR EACH STATEMENT EXECUTE FUNCTION "audit_event_append_only"();
       ALTER TABLE "audit_event_other" ENABLE ALWAYS TRIGGER "audit_event_append_only"`,
    );
  });

  it("makes the same months twice without a fault, and finds the newest rows by index", async () => {
    expect(await refusalOf(roles.ownerUrl, steps[1] ?? "")).toBeUndefined();
    const plan = await queryAs(
      roles.ownerUrl,
      `SET enable_seqscan = off; EXPLAIN SELECT * FROM "audit_event" ORDER BY "seq" DESC LIMIT 50`,
    );
    const lines = (plan as unknown as { rows: { "QUERY PLAN": string }[] }[])[1]?.rows.map((row) => row["QUERY PLAN"]);
    expect(lines?.join("\n")).toContain("Merge Append");
    expect(lines?.join("\n")).not.toContain("Sort  ");
  });

  it("lets the owner take a part out, which stays append-only, while the service works on", async () => {
    expect(await refusalOf(roles.ownerUrl, steps[2] ?? "")).toBeUndefined();
    expect(await refusalOf(roles.ownerUrl, `DELETE FROM "audit_event_before"`)).toBe("audit_event is append-only");
    expect(await refusalOf(roles.ownerUrl, `TRUNCATE "audit_event_before"`)).toBe("audit_event is append-only");
    await bringUpToDate({ url: roles.serviceUrl, ownerUrl: roles.ownerUrl }, { info: () => {}, warn: () => {} });
    expect(await refusalOf(roles.serviceUrl, `DELETE FROM "audit_event_before"`)).toMatch(/permission denied/);
    const id = await decideNew("accept");
    const { rows } = await t.service.pool.query(
      `SELECT tableoid::regclass::text AS "part" FROM "audit_event" WHERE "approval_id" = $1`,
      [id],
    );
    expect(rows).toEqual([{ part: "audit_event_other" }, { part: "audit_event_other" }]);
  });
});

describe("the recipe on the oldest supported PostgreSQL", () => {
  it("makes the same of it: append-only in every part, whoever asks, also without its triggers' leave", async () => {
    const own = await startOwnPostgres();
    const { superuserUrl: url } = own;
    try {
      await bringUpToDate({ url, ownerUrl: undefined }, { info: () => {}, warn: () => {} });
      await queryAs(url, `INSERT INTO "audit_event" ("at", "type", "actor") VALUES (now(), 'approval.minted', '{}')`);
      await queryAs(url, steps[0] ?? "");
      await queryAs(url, steps[1] ?? "");
      const next = new Date(Date.now() + 40 * 24 * 3_600_000).toISOString();
      await queryAs(
        url,
        `INSERT INTO "audit_event" ("at", "type", "actor") VALUES ('${next}', 'approval.minted', '{}')`,
      );
      for (const part of ["audit_event", "audit_event_before", `audit_event_${next.slice(0, 7).replace("-", "_")}`])
        for (const sql of [`UPDATE ${part} SET "reason" = 'x'`, `DELETE FROM ${part}`, `TRUNCATE ${part}`])
          expect([sql, await refusalOf(url, `SET session_replication_role = 'replica'; ${sql}`)]).toEqual([
            sql,
            "audit_event is append-only",
          ]);
    } finally {
      await own.stop();
    }
  });
});

/** SQL of an instant that falls into a part. */
function atIn(part: string): string {
  const month = /_(\d{4})_(\d\d)$/.exec(part);
  if (month) return `TIMESTAMPTZ '${month[1]}-${month[2]}-15T00:00:00Z'`;
  return part.endsWith("before") ? `TIMESTAMPTZ '2021-01-01T00:00:00Z'` : `TIMESTAMPTZ '2040-01-01T00:00:00Z'`;
}
