import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseConfig } from "@/lib/config";
import { removeEmbedded } from "@/lib/embedded/remove";
import { startEmbedded } from "@/lib/embedded/start";
import { startService } from "@/lib/service/start";
import { addPerson } from "@/test/support/actors";
import { queryAs } from "@/test/support/service-role";

const log = pino({ level: "silent" });
let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), "countersign-roles-"));
});
afterEach(async () => {
  await removeEmbedded(dataDir);
  await rm(dataDir, { recursive: true, force: true });
});

const start = () => startService({ ...parseConfig({}), dataDir }, { migrate: true, log });
const recordPath = () => path.join(dataDir, "postgres", "cluster.json");

async function whoServes() {
  const { service, stop } = await start();
  const { rows } = await service.pool.query(
    `SELECT current_user::text AS "role", (SELECT tableowner FROM pg_tables WHERE tablename = 'audit_event') AS "owner", (SELECT count(*)::int FROM "user") AS "users"`,
  );
  const refused = await service.pool.query(`DELETE FROM "audit_event"`).catch((error: Error) => error.message);
  await stop();
  return { ...rows[0], refused };
}

const apart = {
  role: "countersign_service",
  owner: "countersign",
  refused: "permission denied for table audit_event",
};

describe("the embedded database", () => {
  it("is served by a role that does not own it, with a password of its own in a file for its owner alone", async () => {
    expect(await whoServes()).toEqual({ ...apart, users: 0 });
    const record = JSON.parse(await readFile(recordPath(), "utf8"));
    expect(Buffer.from(record.servicePassword, "base64url")).toHaveLength(32);
    expect(record.servicePassword).not.toBe(record.password);
    expect((await stat(recordPath())).mode & 0o777).toBe(0o600);
    expect(await readFile(path.join(dataDir, "postgres", "server.log"), "utf8")).not.toContain(record.servicePassword);
  });

  it("of an older version, which was served by its owner, gets the second role at the next start and loses nothing", async () => {
    // As an older version left it: one role, and no second password in the record.
    const old = await startEmbedded({ dataDir, log });
    const { service, stop } = await startService(
      { ...parseConfig({}), dataDir, databaseUrl: old.url, databaseOwnerUrl: undefined },
      { migrate: true, log },
    );
    await addPerson(service);
    await stop();
    await queryAs(old.url.replace("//countersign:", "//postgres:"), "DROP ROLE countersign_service");
    const { servicePassword: _, ...record } = JSON.parse(await readFile(recordPath(), "utf8"));
    await old.stop();
    await writeFile(recordPath(), JSON.stringify(record));

    expect(await whoServes()).toEqual({ ...apart, users: 1 });
    expect(JSON.parse(await readFile(recordPath(), "utf8"))).toMatchObject(record);
    // A record from a copy that is older than the role: the role gets the password that is written down now.
    await writeFile(recordPath(), JSON.stringify(record));
    expect(await whoServes()).toEqual({ ...apart, users: 1 });
  });

  it("is still served to an older version, which knows the first role alone", async () => {
    await whoServes();
    const database = await startEmbedded({ dataDir, log });
    await queryAs(database.url, `SELECT count(*) FROM "audit_event"; SELECT count(*) FROM "approval"`);
    await database.stop();
  });
});
