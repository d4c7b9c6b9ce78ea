import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, mkdtempSync } from "node:fs";
import { readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openForPerson } from "@/lib/approvals/open";
import { readAudited } from "@/lib/audit/read";
import { parseConfig } from "@/lib/config";
import { bringUpToDate } from "@/lib/database/bring-up-to-date";
import { removeEmbedded } from "@/lib/embedded/remove";
import type { Service } from "@/lib/process";
import { startService } from "@/lib/service/start";
import { addPerson, addTestClient, apiFor, mintApproval, mintBody, type Person, signIn } from "@/test/support/actors";
import { decideAs } from "@/test/support/deciding";
import { type OwnPostgres, startOwnPostgres } from "@/test/support/own-postgres";
import { queryAs } from "@/test/support/service-role";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 });

const log = pino({ level: "silent" });
const repository = path.resolve(import.meta.dirname, "../..");
const newToken = () => randomBytes(32).toString("base64url");

/** What a deployment has been through before it is backed up. */
type Past = {
  people: { ada: Person; auditor: Person };
  apiKey: string;
  consumed: { id: string; consumerToken: string };
  accepted: string;
  pending: string;
  declined: string;
  history: unknown[];
};

async function live(service: Service): Promise<Past> {
  const client = await addTestClient(service);
  const people = { ada: await addPerson(service), auditor: await addPerson(service, "Aude", ["auditor"]) };
  const { session } = await signIn(service, people.ada);
  const ask = async (choice?: "accept" | "decline") => {
    const { id } = await mintApproval(client, people.ada);
    if (choice) expect(await decideAs(service, session, id, choice)).toEqual({ kind: "decided" });
    return id;
  };
  const consumed = { id: await ask("accept"), consumerToken: newToken() };
  expect((await consume(service, client.apiKey, people.ada, consumed.id, consumed.consumerToken)).status).toBe(200);
  const [accepted, pending] = [await ask("accept"), await ask()];
  // Last, since after a decline the same is not asked again.
  const declined = await ask("decline");
  return { people, apiKey: client.apiKey, consumed, accepted, pending, declined, history: await historyOf(service) };
}

async function consume(service: Service, apiKey: string, person: Person, id: string, consumerToken = newToken()) {
  const { caller, action } = mintBody(person);
  const body = { caller, action, consumerToken };
  const response = await apiFor(service, apiKey)("POST", `/approvals/${id}/consume`, body);
  return { status: response.status, ...((await response.json()) as { code?: string; replayed?: boolean }) };
}

async function historyOf(service: Service): Promise<unknown[]> {
  return (await service.pool.query(`SELECT *, "actor"::text, "data"::text FROM "audit_event" ORDER BY "seq"`)).rows;
}

/** What must be so on every restored copy, and what goes on there as if nothing had been. */
async function expectRestored(service: Service, past: Past): Promise<void> {
  const { people, apiKey, consumed, accepted, pending, declined } = past;
  expect((await historyOf(service)).slice(0, past.history.length)).toEqual(past.history);
  const auditor = (await signIn(service, people.auditor)).session;
  for (const [id, status] of [
    [consumed.id, "accepted"],
    [accepted, "accepted"],
    [declined, "declined"],
  ] as const)
    expect(await readAudited(service, auditor, id)).toMatchObject({ status, receipt: { verdict: "genuine" } });
  expect(await consume(service, apiKey, people.ada, consumed.id)).toMatchObject({
    status: 409,
    code: "already_consumed",
  });
  expect(await consume(service, apiKey, people.ada, consumed.id, consumed.consumerToken)).toMatchObject({
    status: 200,
    replayed: true,
  });
  const { session } = await signIn(service, people.ada);
  expect((await openForPerson(service, session, pending))?.record?.action).toEqual(mintBody(people.ada).action);
  expect(await decideAs(service, session, pending, "accept")).toEqual({ kind: "decided" });
  expect(await consume(service, apiKey, people.ada, pending)).toMatchObject({ status: 200, replayed: false });
  await expect(service.pool.query(`DELETE FROM "audit_event"`)).rejects.toThrow(/permission denied/);
}

/** The steps of docs/backup.md, each by its number, as an operator would paste them. */
async function stepsOfDocs(): Promise<string[]> {
  const text = await readFile(path.join(repository, "docs/backup.md"), "utf8");
  return [...text.matchAll(/```bash\n(# \d\.[\s\S]*?)```/g)].map((match) => match[1] ?? "");
}

function paste(step: string, options: { cwd: string; env: Record<string, string> }) {
  const npx = `npx() { node "${path.join(repository, "cli", "$1.mjs")}" "\${@:2}"; }`;
  return spawnSync("bash", ["--norc", "-c", `${npx}\n${step}`], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    cwd: options.cwd,
    env: { ...options.env, NODE_ENV: "production" },
  });
}

describe("a PostgreSQL of the operator's own", () => {
  const secret = new Uint8Array(randomBytes(32));
  let own: OwnPostgres;
  let elsewhere: OwnPostgres;
  let folder: string;
  let steps: string[];

  beforeAll(async () => {
    steps = await stepsOfDocs();
    expect(steps.map((step) => step.slice(0, 4))).toEqual(["# 1.", "# 2.", "# 3.", "# 4."]);
    [own, elsewhere] = await Promise.all([startOwnPostgres(), startOwnPostgres()]);
    folder = mkdtempSync(path.join(tmpdir(), "countersign-backup-"));
  });
  afterAll(async () => {
    await Promise.all([own.stop(), elsewhere.stop()]);
    await rm(folder, { recursive: true, force: true });
  });

  /** As docs/audit.md has an operator make them, under other names in each place. */
  async function makeRoles(server: OwnPostgres, prefix: string) {
    const text = await readFile(path.join(repository, "docs/audit.md"), "utf8");
    const sql = /```sql\n(-- As a superuser[\s\S]*?)```/.exec(text)?.[1] ?? "";
    const statements = sql
      .replaceAll("…", "p4ssword")
      .replaceAll(/\bcountersign/g, prefix)
      .split(";\n");
    for (const statement of statements) await queryAs(server.superuserUrl, statement);
    return {
      ownerUrl: server.urlFor(`${prefix}_owner`, "p4ssword", prefix),
      url: server.urlFor(prefix, "p4ssword", prefix),
    };
  }
  const serve = (databaseUrl: string, withSecret = secret) =>
    startService({ ...parseConfig({}), databaseUrl, secret: withSecret }, { migrate: true, log });

  it("of the oldest supported version is dumped while it serves and restored elsewhere, under other roles, by the steps of the docs", async () => {
    const { rows } = await queryAs(
      own.superuserUrl,
      "SELECT current_setting('server_version_num')::int / 10000 AS major",
    );
    expect(rows[0].major).toBeGreaterThanOrEqual(15);
    const here = await makeRoles(own, "countersign");
    await bringUpToDate(here, log);
    const first = await serve(here.url);
    const past = await live(first.service);
    const shell = { PATH: `${own.bin}:${process.env["PATH"]}` };
    const dumped = paste(steps[0] ?? "", { cwd: folder, env: { ...shell, DATABASE_OWNER_URL: here.ownerUrl } });
    expect([dumped.stderr, dumped.status]).toEqual(["", 0]);

    // After the backup: this the restored one does not know.
    const { ada } = past.people;
    expect(await consume(first.service, past.apiKey, ada, past.accepted)).toMatchObject({ status: 200 });
    await first.stop();

    const there = await makeRoles(elsewhere, "elsewhere");
    const restored = paste(steps[1] ?? "", { cwd: folder, env: { ...shell, DATABASE_OWNER_URL: there.ownerUrl } });
    expect([restored.stderr, restored.status]).toEqual(["", 0]);
    await expect(queryAs(there.url, `SELECT 1 FROM "approval"`)).rejects.toThrow(/permission denied/);
    const env = {
      ...shell,
      DATABASE_OWNER_URL: there.ownerUrl,
      DATABASE_URL: there.url,
      COUNTERSIGN_SECRET: Buffer.from(secret).toString("hex"),
      COUNTERSIGN_URL: first.service.config.url,
    };
    const migrated = paste(steps[2] ?? "", { cwd: folder, env });
    expect(migrated.stdout).toContain("The database is up to date.");
    for (const name of ["database", "migrations", "history", "secret", "keys"])
      expect(migrated.stdout).toMatch(new RegExp(`^ok +${name}: `, "m"));

    await expect(serve(there.url, new Uint8Array(randomBytes(32)))).rejects.toThrow(/another COUNTERSIGN_SECRET/);
    const second = await serve(there.url);
    await expectRestored(second.service, past);
    // What docs/backup.md warns of: until act-by has passed, what was consumed after the backup is not known to be.
    expect(await consume(second.service, past.apiKey, ada, past.accepted)).toMatchObject({
      status: 200,
      replayed: false,
    });
    await second.stop();
  });
});

describe("the embedded database", () => {
  let parent: string;
  const folders: string[] = [];
  beforeAll(() => {
    parent = mkdtempSync(path.join(tmpdir(), "countersign-cold-"));
  });
  afterAll(async () => {
    for (const folder of folders) await removeEmbedded(folder);
    await rm(parent, { recursive: true, force: true });
  });

  const serve = (dataDir: string) => startService({ ...parseConfig({}), dataDir }, { migrate: true, log });
  /** As the step of the docs copies it, by whoever may read it. */
  async function copy(from: string, to: string): Promise<void> {
    const step = (await stepsOfDocs())[3] ?? "";
    const copied = paste(step, {
      cwd: parent,
      env: { PATH: process.env["PATH"] ?? "", COUNTERSIGN_DATA_DIR: from, BACKUP: to },
    });
    expect([copied.stderr, copied.status]).toEqual(["", 0]);
  }

  it("of an ordinary user is copied cold, and starts under another path and under the same", async () => {
    const [dataDir, elsewhere, backup] = ["data", "elsewhere", "backup"].map((name) => path.join(parent, name)) as [
      string,
      string,
      string,
    ];
    folders.push(dataDir, elsewhere);
    spawnSync("mkdir", ["-m", "700", dataDir]);
    // In the folder of an ordinary user root works as that user does: everything lies inside.
    if (process.getuid?.() === 0) for (const each of [parent, dataDir]) chownSync(each, 65_534, 65_534);
    const first = await serve(dataDir);
    const past = await live(first.service);
    await first.stop();
    await copy(dataDir, backup);
    const again = await serve(dataDir);
    expect(await consume(again.service, past.apiKey, past.people.ada, past.accepted)).toMatchObject({ status: 200 });
    await again.stop();

    await copy(backup, elsewhere);
    const second = await serve(elsewhere);
    await expectRestored(second.service, past);
    expect(await consume(second.service, past.apiKey, past.people.ada, past.accepted)).toMatchObject({ status: 200 });
    await second.stop();

    await rm(dataDir, { recursive: true });
    await copy(backup, dataDir);
    const third = await serve(dataDir);
    await expectRestored(third.service, past);
    await third.stop();
  });

  it("of root is copied with the home that its record names, and starts at the same places", async () => {
    const dataDir = path.join(parent, "root");
    folders.push(dataDir);
    spawnSync("mkdir", ["-m", "700", dataDir]);
    const first = await serve(dataDir);
    const past = await live(first.service);
    await first.stop();
    const { home } = JSON.parse(await readFile(path.join(dataDir, "postgres", "cluster.json"), "utf8")) as {
      home?: string;
    };
    expect(home === undefined).toBe(process.getuid?.() !== 0);
    const places = [dataDir, ...(home === undefined ? [] : [home])];
    for (const place of places) await copy(place, `${place}.backup`);
    for (const place of places) await rm(place, { recursive: true });
    if (home !== undefined) await expect(serve(`${dataDir}.backup`)).rejects.toThrow(/is missing or cannot be read/);
    for (const place of places) await rename(`${place}.backup`, place);
    const second = await serve(dataDir);
    await expectRestored(second.service, past);
    await second.stop();
  });
});
