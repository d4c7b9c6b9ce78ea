import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type pg from "pg";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Check } from "@/lib/doctor/check";
import { checkClock } from "@/lib/doctor/clock";
import { type DoctorOptions, diagnose } from "@/lib/doctor/diagnose";
import { createDatabase, createTestService, type TestService } from "@/test/support/database";
import { type Front, startFront } from "@/test/support/doctor-stage";
import { freePorts } from "@/test/support/free-port";
import { createTwoRoles, queryAs, type TwoRoles } from "@/test/support/service-role";

const actor = { kind: "admin", via: "cli" } as const;
const log = pino({ level: "silent" });
const secret = randomBytes(32);

let roles: TwoRoles;
let t: TestService;
let front: Front;

beforeAll(async () => {
  roles = await createTwoRoles();
  t = await createTestService({ databaseUrl: roles.serviceUrl, secret: new Uint8Array(secret) });
  front = await startFront(t.service);
});
afterAll(async () => {
  await front.stop();
  await t.stop();
});

async function examine(
  change: Partial<DoctorOptions> = {},
  env: Record<string, string> = {},
): Promise<Record<string, Check>> {
  const whole = {
    DATABASE_URL: roles.serviceUrl,
    COUNTERSIGN_SECRET: secret.toString("hex"),
    COUNTERSIGN_URL: t.service.config.url,
    ...env,
  };
  const checks = await diagnose({ env: whole, log, actor, url: front.url, isReadOnly: true, ...change });
  return Object.fromEntries(checks.map((check) => [check.name, check]));
}

const statuses = (checks: Record<string, Check>, status: Check["status"]) =>
  Object.values(checks)
    .filter((check) => check.status === status)
    .map(({ name }) => name);

describe("a deployment in order", () => {
  it("passes every check, with one warning: nobody else can reach a loopback address", async () => {
    const checks = await examine({ isReadOnly: false });
    expect([statuses(checks, "failed"), statuses(checks, "warning")]).toEqual([[], ["settings"]]);
    expect(statuses(checks, "ok")).toEqual([
      "database",
      "notifications",
      "migrations",
      "history",
      "clock",
      "secret",
      "keys",
      "worker",
      "running service",
      "proxy headers",
      "webhook",
      "visitors' addresses",
      "scratch approval",
      "tampered row",
      "consume race",
    ]);
  });

  it("--read-only writes nothing, in no table", async () => {
    const before = await countRows();
    const checks = await examine();
    expect(statuses(checks, "failed")).toEqual([]);
    expect(await countRows()).toEqual(before);
    expect(checks).not.toHaveProperty("scratch approval");
  });
});

/** The rows of every table, and how often each was written: an update leaves the count as it was. */
async function countRows(): Promise<unknown[]> {
  const { rows } = await queryAs(
    roles.ownerUrl,
    `SELECT "relname", (xpath('/row/n/text()', query_to_xml(format('SELECT count(*) || '' '' || coalesce(max(xmin::text::bigint), 0) AS n FROM %I', "relname"), false, true, '')))[1]::text AS "rows"
     FROM pg_class WHERE "relnamespace" = 'public'::regnamespace AND "relkind" = 'r' ORDER BY 1`,
  );
  return rows;
}

describe("settings", () => {
  it("are told with all their faults, and nothing else is looked at", async () => {
    const checks = await examine(
      {},
      { PORT: "70000", TRUSTED_PROXIES: "10.0.0.0/33", COUNTERSIGN_URL: "http://example.com" },
    );
    expect(Object.keys(checks)).toEqual(["settings", "everything else"]);
    expect(checks["settings"]?.status).toBe("failed");
    for (const name of ["PORT", "TRUSTED_PROXIES", "COUNTERSIGN_URL"])
      expect(checks["settings"]?.message).toContain(`${name}:`);
  });

  it("warn of a typed secret, of a rotation that was not ended, and say aloud that the embedded database serves a public address", async () => {
    const typed = await examine(
      {},
      {
        COUNTERSIGN_SECRET: Buffer.from("correct horse battery staple and some more").toString("base64"),
        COUNTERSIGN_SECRET_PREVIOUS: secret.toString("hex"),
      },
    );
    expect(typed["settings"]?.message).toMatch(
      /reads as text somebody wrote.*COUNTERSIGN_SECRET_PREVIOUS is still set/s,
    );
    const embedded = await examine(
      {},
      {
        DATABASE_URL: "",
        COUNTERSIGN_URL: "https://approve.example.com",
        COUNTERSIGN_DATA_DIR: path.join(tmpdir(), "none-here"),
      },
    );
    expect(embedded["settings"]).toMatchObject({
      status: "warning",
      message: expect.stringContaining("The EMBEDDED database serves https://approve.example.com"),
    });
  });

  it("make no database, no secret and no folder where there is none yet", async () => {
    const folder = path.join(tmpdir(), `countersign-none-${process.pid}`);
    const checks = await examine({}, { DATABASE_URL: "", COUNTERSIGN_SECRET: "", COUNTERSIGN_DATA_DIR: folder });
    expect(checks["database"]).toMatchObject({
      status: "failed",
      message: expect.stringContaining("start the service once"),
    });
    await expect(readdir(folder)).rejects.toThrow(/ENOENT/);
  });
});

describe("the database", () => {
  it("that does not answer is told, and what needs none is looked at all the same", async () => {
    const gone = new URL(roles.serviceUrl);
    gone.port = String((await freePorts(1))[0]);
    const checks = await examine({}, { DATABASE_URL: gone.href });
    expect(checks["database"]).toMatchObject({ status: "failed", message: expect.stringContaining("ECONNREFUSED") });
    expect(checks["running service"]?.status).toBe("ok");
    expect(checks["proxy headers"]?.status).toBe("ok");
  });

  it.each([
    ["synchronous_commit", "off", /a consumed approval could be consumed again/],
    ["default_transaction_isolation", "serializable", /read committed/],
    ["default_transaction_read_only", "on", /nothing can be decided/],
  ])("of which a role has %s %s fails", async (name, value, words) => {
    await queryAs(roles.superuserUrl, `ALTER ROLE ${roles.role} SET ${name} = '${value}'`);
    try {
      const checks = await examine();
      expect(checks["database"]).toMatchObject({ status: "failed", message: expect.stringMatching(words) });
      expect(checks["running service"]?.status).toBe("ok");
    } finally {
      await queryAs(roles.superuserUrl, `ALTER ROLE ${roles.role} RESET ${name}`);
    }
  });

  it("in another encoding fails, and one that no service has been started on is not started by this", async () => {
    const url = await createDatabase("");
    const name = `ascii_${process.pid}`;
    await queryAs(
      url,
      `CREATE DATABASE ${name} ENCODING 'SQL_ASCII' LOCALE 'C' LOCALE_PROVIDER libc TEMPLATE template0`,
    );
    const ascii = new URL(url);
    ascii.pathname = `/${name}`;
    const checks = await examine({}, { DATABASE_URL: ascii.href });
    expect(checks["database"]).toMatchObject({ status: "failed", message: expect.stringContaining("SQL_ASCII") });
    expect(checks["migrations"]).toMatchObject({
      status: "failed",
      message: expect.stringContaining("countersign migrate"),
    });
    expect(checks["history"]?.status).toBe("failed");
    expect(checks["secret"]).toMatchObject({
      status: "failed",
      message: expect.stringContaining("No service has been started"),
    });
    expect((await queryAs(ascii.href, "SELECT 1 FROM pg_tables WHERE schemaname = 'public'")).rows).toEqual([]);
  });

  it("of another secret fails, and the rest goes on without it", async () => {
    const checks = await examine({}, { COUNTERSIGN_SECRET: randomBytes(32).toString("hex") });
    expect(checks["secret"]).toMatchObject({
      status: "failed",
      message: expect.stringContaining("another COUNTERSIGN_SECRET"),
    });
    expect(checks["running service"]?.status).toBe("ok");
    expect(checks).not.toHaveProperty("keys");
  });

  it("whose clock is elsewhere by more than two seconds fails, with the direction", async () => {
    const at = (aheadMs: number) =>
      ({ query: async () => ({ rows: [{ now: new Date(Date.now() + aheadMs) }] }) }) as unknown as pg.Pool;
    expect(await checkClock(at(5_000))).toMatchObject({
      status: "failed",
      message: expect.stringContaining("s ahead of"),
    });
    expect(await checkClock(at(-5_000))).toMatchObject({
      status: "failed",
      message: expect.stringContaining("s behind"),
    });
    expect(await checkClock(at(1_500))).toMatchObject({ status: "ok" });
  });

  it("with a migration of a newer version, a changed and a missing one fails with each", async () => {
    await queryAs(
      roles.ownerUrl,
      `INSERT INTO "_prisma_migrations" ("id", "checksum", "migration_name", "finished_at") VALUES ('x', 'x', '29990101000000_later', now());
       UPDATE "_prisma_migrations" SET "checksum" = reverse("checksum") WHERE "migration_name" = '20261201000000_init';
       UPDATE "_prisma_migrations" SET "rolled_back_at" = now() WHERE "migration_name" = '20261201220000_audit_roles'`,
    );
    const { migrations } = await examine();
    await queryAs(
      roles.ownerUrl,
      `DELETE FROM "_prisma_migrations" WHERE "id" = 'x';
       UPDATE "_prisma_migrations" SET "checksum" = reverse("checksum") WHERE "migration_name" = '20261201000000_init';
       UPDATE "_prisma_migrations" SET "rolled_back_at" = NULL`,
    );
    expect(migrations?.status).toBe("failed");
    expect(migrations?.message).toMatch(/29990101000000_later is unknown here/);
    expect(migrations?.message).toMatch(/20261201000000_init was changed/);
    expect(migrations?.message).toMatch(/1 not applied \(20261201220000_audit_roles\)/);
    expect((await examine())["migrations"]?.status).toBe("ok");
  });

  it("with a signing key's row that was written without the secret fails", async () => {
    await queryAs(roles.ownerUrl, `UPDATE "signing_key" SET "publish_from" = "publish_from" - INTERVAL '1 hour'`);
    const { keys } = await examine();
    await queryAs(roles.ownerUrl, `UPDATE "signing_key" SET "publish_from" = "publish_from" + INTERVAL '1 hour'`);
    expect(keys).toMatchObject({
      status: "failed",
      message: expect.stringContaining("does not stand up to the secret"),
    });
  });
});

describe("the history", () => {
  let two: TwoRoles;
  beforeEach(async () => {
    two = await createTwoRoles();
  });
  const history = async (url: string) => (await examine({}, { DATABASE_URL: url }))["history"];

  it("warns where the role that serves could take the triggers off: as owner, as its member, as a superuser", async () => {
    for (const url of [two.ownerUrl, two.superuserUrl])
      expect(await history(url)).toMatchObject({
        status: "warning",
        message: expect.stringContaining("could take the triggers off"),
      });
    expect((await history(two.serviceUrl))?.status).toBe("ok");
    await queryAs(two.superuserUrl, `GRANT countersign TO ${two.role}`);
    expect(await history(two.serviceUrl)).toMatchObject({ status: "warning" });
  });

  it("warns of rights beyond, however they were given", async () => {
    await queryAs(two.ownerUrl, `GRANT DELETE ON "audit_event" TO PUBLIC`);
    expect(await history(two.serviceUrl)).toMatchObject({
      status: "warning",
      message: expect.stringContaining("may change audit_event"),
    });
  });

  it.each([
    `DROP TRIGGER "audit_event_append_only" ON "audit_event"`,
    `DROP TRIGGER "audit_event_rows_stay" ON "audit_event"`,
    `ALTER TABLE "audit_event" DISABLE TRIGGER ALL`,
    `ALTER TABLE "audit_event" ENABLE TRIGGER "audit_event_rows_stay"`,
    `DROP TRIGGER "audit_event_rows_stay" ON "audit_event"; CREATE TRIGGER "audit_event_rows_stay" BEFORE UPDATE OR DELETE ON "audit_event"
       FOR EACH ROW WHEN (false) EXECUTE FUNCTION "audit_event_append_only"();
       ALTER TABLE "audit_event" ENABLE ALWAYS TRIGGER "audit_event_rows_stay"`,
    `DROP TABLE "audit_event"`,
  ])("fails after: %s", async (sql) => {
    await queryAs(two.ownerUrl, sql);
    expect((await history(two.serviceUrl))?.status).toBe("failed");
  });
});
