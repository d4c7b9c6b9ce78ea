import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eraseSettled } from "@/lib/approvals/erase-settled";
import { settleDue } from "@/lib/approvals/settle-due";
import { stopWriters } from "@/lib/approvals/stop-writers";
import { bringUpToDate } from "@/lib/database/bring-up-to-date";
import { transact } from "@/lib/database/transact";
import { rotateSigningKey } from "@/lib/keys/rotate";
import { readiness } from "@/lib/service/readiness";
import { addPerson, addTestClient, mintApproval, mintBody, type Person, signIn } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";
import { createTwoRoles, queryAs, type TwoRoles } from "@/test/support/service-role";

const log = { info: () => {}, warn: () => {} };
const actor = { kind: "admin", via: "cli" } as const;

let roles: TwoRoles;
let t: TestService;
let ada: Person;

beforeAll(async () => {
  roles = await createTwoRoles();
  t = await createTestService({ databaseUrl: roles.serviceUrl, retainArgumentsSeconds: 0 });
  ada = await addPerson(t.service);
});
afterAll(() => t.stop());

/** SQLSTATE and message of the refusal; undefined where it was done. */
async function refusalOf(url: string, sql: string): Promise<string | undefined> {
  return queryAs(url, sql).then(
    () => undefined,
    (error: Error & { code?: string }) => `${error.code} ${error.message}`,
  );
}

const denied = /^42501 (permission denied|must be owner)/;

describe("the role that serves", () => {
  it.each([
    `UPDATE "audit_event" SET "reason" = 'other'`,
    `DELETE FROM "audit_event"`,
    `TRUNCATE "audit_event"`,
    `INSERT INTO "audit_event" ("seq", "at", "type", "actor") SELECT "seq", "at", "type", "actor" FROM "audit_event"
       ON CONFLICT ("seq", "at") DO UPDATE SET "type" = 'other'`,
    `DROP TABLE "audit_event"`,
    `ALTER TABLE "audit_event" RENAME TO "other"`,
    `DROP TRIGGER "audit_event_append_only" ON "audit_event"`,
    `DROP TRIGGER "audit_event_rows_stay" ON "audit_event"`,
    `ALTER TABLE "audit_event" DISABLE TRIGGER "audit_event_append_only"`,
    `ALTER TABLE "audit_event" DISABLE TRIGGER ALL`,
    `SET session_replication_role = 'replica'`,
    `CREATE OR REPLACE FUNCTION "audit_event_append_only"() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
    `CREATE TRIGGER "other" BEFORE INSERT ON "audit_event" FOR EACH ROW EXECUTE FUNCTION "audit_event_append_only"()`,
    `CREATE RULE "other" AS ON INSERT TO "audit_event" DO INSTEAD NOTHING`,
    `SELECT setval('audit_event_seq_seq', 1)`,
    `CREATE TABLE "other" ("id" int)`,
    `DROP TABLE "approval"`,
    `TRUNCATE "approval"`,
    `ALTER TABLE "approval" DROP CONSTRAINT "approval_consumption"`,
    `DELETE FROM "_prisma_migrations"`,
  ])("cannot: %s", async (sql) => {
    const refusal = await refusalOf(roles.serviceUrl, sql);
    expect(refusal).toMatch(denied);
  });

  it("cannot become the owner or anybody else, nor give itself more", async () => {
    await queryAs(roles.serviceUrl, `GRANT ALL ON "audit_event" TO CURRENT_USER`); // a warning, and nothing given
    expect(await refusalOf(roles.serviceUrl, `DELETE FROM "audit_event"`)).toMatch(denied);
    expect(await refusalOf(roles.serviceUrl, "SET ROLE countersign")).toMatch(/^42501/);
    expect(await refusalOf(roles.serviceUrl, "SET SESSION AUTHORIZATION postgres")).toMatch(/^42501/);
  });

  it("carries the whole way: mint, decide, consume, outcome, erase, key rotation, with LOCK TABLE and the health check", async () => {
    const client = await addTestClient(t.service);
    const { session } = await signIn(t.service, ada);
    const { id } = await mintApproval(client, ada, {});
    expect(await decideAs(t.service, session, id, "accept")).toEqual({ kind: "decided" });
    const consumerToken = randomBytes(32).toString("base64url");
    const { caller, action } = mintBody(ada);
    const consumed = await client.api("POST", `/approvals/${id}/consume`, { caller, action, consumerToken });
    expect(await consumed.json()).toMatchObject({ granted: true });
    const told = await client.api("POST", `/approvals/${id}/outcome`, { consumerToken, outcome: "succeeded" });
    expect(told.status).toBe(200);
    await t.service.pool.query(
      `UPDATE "approval" SET "act_by" = "act_by" - INTERVAL '1 hour', "consumed_at" = "consumed_at" - INTERVAL '1 hour' WHERE "id" = $1`,
      [id],
    );
    await settleDue(t.service);
    expect(await eraseSettled(t.service)).toBe(1);
    await rotateSigningKey(t.service, actor);
    await transact(t.service.pool, stopWriters);
    expect(await readiness(t.service)).toMatchObject({ database: "ok", migrations: "ok", keys: "ok" });
    const { rows } = await t.service.pool.query(
      `SELECT "type" FROM "audit_event" WHERE "approval_id" = $1 ORDER BY "seq"`,
      [id],
    );
    expect(rows.map(({ type }) => type)).toEqual([
      "approval.minted",
      "approval.accepted",
      "approval.consumed",
      "approval.outcome",
    ]);
  });

  it("has every right that the tables of this version need, and none beyond on the history", async () => {
    const { rows } = await queryAs(
      roles.ownerUrl,
      `SELECT c."relname" AS "table", array_agg(DISTINCT a."privilege_type"::text ORDER BY a."privilege_type"::text) AS "rights"
       FROM "pg_class" c, aclexplode(c."relacl") a
       WHERE c."relnamespace" = 'public'::regnamespace AND c."relkind" = 'r' AND a."grantee" = '${roles.role}'::regrole GROUP BY 1 ORDER BY 1`,
    );
    const rights = Object.fromEntries(rows.map(({ table, rights }) => [table, rights.join()]));
    expect(rights).toMatchObject({ audit_event: "INSERT,SELECT", _prisma_migrations: "SELECT" });
    const others = Object.entries(rights).filter(
      ([table]) => table !== "audit_event" && table !== "_prisma_migrations",
    );
    const tables = await queryAs(
      roles.ownerUrl,
      `SELECT count(*)::int AS "n" FROM "pg_class" WHERE "relnamespace" = 'public'::regnamespace AND "relkind" = 'r'`,
    );
    expect(others).toHaveLength(tables.rows[0].n - 2);
    expect(new Set(others.map(([, right]) => right))).toEqual(new Set(["DELETE,INSERT,SELECT,UPDATE"]));
  });
});

describe("the triggers, even for who owns the table", () => {
  it.each([
    `UPDATE "audit_event" SET "reason" = 'other'`,
    `DELETE FROM "audit_event"`,
    `TRUNCATE "audit_event"`,
    `SET session_replication_role = 'replica'; DELETE FROM "audit_event"`,
    `SET session_replication_role = 'replica'; TRUNCATE "audit_event"`,
  ])("refuse to a superuser: %s", async (sql) => {
    expect(await refusalOf(roles.superuserUrl, sql)).toBe("P0001 audit_event is append-only");
  });
});

describe("bringing a database up to date with two roles", () => {
  it("grants once and changes nothing the next time; takes back what was given beyond, and grants what a new table needs", async () => {
    const two = await createTwoRoles();
    const said: unknown[] = [];
    const listening = { info: (details: object) => said.push(details), warn: () => {} };
    const again = () => bringUpToDate({ url: two.serviceUrl, ownerUrl: two.ownerUrl }, listening);
    expect(await again()).toEqual({ applied: [] });
    expect(said).toEqual([]);
    await queryAs(two.ownerUrl, `CREATE TABLE "later" ("id" serial); GRANT ALL ON "audit_event" TO ${two.role}`);
    // Before anybody grants again, a new table can be read and appended to.
    await queryAs(two.serviceUrl, `INSERT INTO "later" DEFAULT VALUES; SELECT * FROM "later"`);
    expect(await refusalOf(two.serviceUrl, `DELETE FROM "later"`)).toMatch(denied);
    await again();
    await queryAs(two.serviceUrl, `UPDATE "later" SET "id" = 2; DELETE FROM "later"`);
    expect(await refusalOf(two.serviceUrl, `DELETE FROM "audit_event"`)).toMatch(denied);
    expect(said).toHaveLength(1);
  });

  it("may be done by several processes at the same moment", async () => {
    const two = await createTwoRoles({ granted: false });
    await Promise.all([1, 2, 3].map(() => bringUpToDate({ url: two.serviceUrl, ownerUrl: two.ownerUrl }, log)));
    expect((await queryAs(two.serviceUrl, `SELECT count(*)::int AS "n" FROM "audit_event"`)).rows).toEqual([{ n: 0 }]);
  });

  it("is not needed by a role that finds everything applied; one that does not is told who must", async () => {
    const two = await createTwoRoles();
    expect(await bringUpToDate({ url: two.serviceUrl, ownerUrl: undefined }, log)).toEqual({ applied: [] });
    const empty = await createTwoRoles({ template: "", granted: false });
    await expect(bringUpToDate({ url: empty.serviceUrl, ownerUrl: undefined }, log)).rejects.toThrow(
      /may not bring the database up to date.*countersign migrate.*DATABASE_OWNER_URL/,
    );
  });

  it("refuses two addresses of two databases, and warns where both are one role", async () => {
    const [one, other] = [await createTwoRoles(), await createTwoRoles({ template: "", granted: false })];
    const elsewhere = new URL(one.serviceUrl);
    elsewhere.pathname = new URL(other.ownerUrl).pathname;
    await expect(bringUpToDate({ url: elsewhere.href, ownerUrl: one.ownerUrl }, log)).rejects.toThrow(/two databases/);
    const warnings: string[] = [];
    const listening = { info: () => {}, warn: (_: object, message: string) => warnings.push(message) };
    await bringUpToDate({ url: one.ownerUrl, ownerUrl: one.ownerUrl }, listening);
    expect(warnings).toEqual([expect.stringContaining("are one role")]);
  });
});
