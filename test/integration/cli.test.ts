import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { scopes } from "@/lib/api-keys/authenticate";
import { addClient } from "@/lib/clients/add";
import { parseConfig } from "@/lib/config";
import { removeEmbedded } from "@/lib/embedded/remove";
import type { Service } from "@/lib/process";
import { startService } from "@/lib/service/start";
import { readSession } from "@/lib/sessions/read";
import { authenticate } from "@/lib/users/authenticate";
import { pendingMigrations } from "@/prisma/migrate";
import { addPerson, addTestClient, mintApproval, type Person, password, signIn } from "../support/actors";
import { type CommandLine, commandLine } from "../support/command-line";
import { decideAs } from "../support/deciding";

const url = "http://localhost:3917";
const actor = { kind: "admin", via: "cli" } as const;
const foreign = "https://login.example.com";

// Each call is a process of its own, slow to start on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let dataDir: string;
let cli: CommandLine;
let service: Service;
let stop: () => Promise<void>;
let firstCall: { applied: string[] };

beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), "countersign-cli-"));
  const environment = { COUNTERSIGN_DATA_DIR: dataDir, COUNTERSIGN_URL: url };
  cli = commandLine(environment);
  // Alone on an empty folder: this call makes the database and stops it again.
  firstCall = await cli.ask(["migrate"]);
  const started = await startService(parseConfig(environment), { listen: true, log: pino({ level: "silent" }) });
  service = started.service;
  stop = started.stop;
});

afterAll(async () => {
  await stop?.();
  await removeEmbedded(dataDir);
  await rm(dataDir, { recursive: true, force: true });
});

const auditOf = (type: string) =>
  service.prisma.auditEvent.findMany({ where: { type }, orderBy: { seq: "desc" }, take: 1 });

async function addByCommand(email: string, ...more: string[]): Promise<Person> {
  const args = ["users", "add", "--email", email, "--name", "Ada", ...more];
  const added = await cli.ask<{ userId: string; iss: string; sub: string }>(args, `${password}\n`);
  return { ...added, email };
}

describe("migrate", () => {
  it("brings a new database up to date, and has nothing to do the second time", async () => {
    expect(firstCall.applied.length).toBeGreaterThan(0);
    expect(await pendingMigrations(service.pool)).toEqual([]);
    expect(await cli.ask(["migrate"])).toEqual({ applied: [] });
  });
});

describe("users", () => {
  it("adds a local account that signs in with the password from standard input", async () => {
    const added = await addByCommand("add@example.com", "--roles", "auditor");
    expect(added).toMatchObject({ iss: url, sub: added.userId });
    expect(await authenticate(service, "add@example.com", password)).toMatchObject({
      id: added.userId,
      roles: ["auditor"],
    });
    expect(await auditOf("admin.user_added")).toMatchObject([{ actor: { kind: "admin", via: "cli" } }]);
  });

  it("refuses an address that is taken or none, a weak password, and no password, and says which", async () => {
    const { email } = await addPerson(service, "Taken");
    const add = (email: string, input: string) => cli.fail(["users", "add", "--email", email, "--name", "Eve"], input);
    const [taken, none, weak, missing] = await Promise.all([
      add(email.toUpperCase(), `${password}\n`),
      add("not an address", `${password}\n`),
      add("weak@example.com", "short\n"),
      add("missing@example.com", ""),
    ]);
    expect(taken).toMatchObject({
      code: 1,
      error: { code: "invalid_request", message: expect.stringContaining("email: is taken") },
    });
    expect(none).toMatchObject({ code: 1, error: { message: expect.stringContaining("must be an e-mail address") } });
    expect(weak).toMatchObject({ code: 1, error: { message: expect.stringContaining("12 to 200 characters") } });
    expect(missing).toMatchObject({ code: 1, error: { code: "no_input" } });
    expect(
      await service.prisma.user.count({ where: { email: { in: ["weak@example.com", "missing@example.com"] } } }),
    ).toBe(0);
  });

  it("replaces a password, which ends the sessions that the old one had opened", async () => {
    const person = await addPerson(service, "Passwd");
    const { cookie } = await signIn(service, person);
    const other = "another long password";
    expect(await cli.ask(["users", "passwd", person.email], `${other}\n`)).toEqual({
      userId: person.userId,
      endedSessions: 1,
    });
    expect(await readSession(service, new Headers({ cookie }))).toBeUndefined();
    expect(await authenticate(service, person.email, password)).toBeUndefined();
    expect(await authenticate(service, person.email, other)).toMatchObject({ id: person.userId });
    expect(await auditOf("admin.password_changed")).toMatchObject([{ data: { userId: person.userId } }]);
  });

  it("disables a user: the session ends at once and the password opens nothing any more", async () => {
    const person = await addPerson(service, "Disable");
    const { cookie } = await signIn(service, person);
    const disable = ["users", "disable", person.email];
    expect(await cli.ask(disable)).toEqual({ userId: person.userId, changed: true, endedSessions: 1 });
    expect(await readSession(service, new Headers({ cookie }))).toBeUndefined();
    expect(await authenticate(service, person.email, password)).toBeUndefined();
    const [again, nobody] = await Promise.all([cli.ask(disable), cli.fail(["users", "disable", "nobody@example.com"])]);
    expect(again).toMatchObject({ changed: false });
    expect(nobody).toMatchObject({
      code: 1,
      error: { code: "not_found", message: "There is no user with this e-mail address." },
    });
  });

  it("sets one role or none, shows it when none is named, and knows no other", async () => {
    const { email, userId } = await addPerson(service, "Roles");
    expect(await cli.ask(["users", "roles", email, "admin"])).toEqual({ userId, roles: ["admin"], before: [] });
    expect(await cli.ask(["users", "roles", email, "auditor"])).toEqual({
      userId,
      roles: ["auditor"],
      before: ["admin"],
    });
    const [shown, unknown] = await Promise.all([
      cli.ask(["users", "roles", email]),
      cli.fail(["users", "roles", email, "owner"]),
    ]);
    expect(shown).toEqual({ userId, roles: ["auditor"] });
    expect(unknown).toMatchObject({ code: 2, error: { code: "usage" } });
    expect(await cli.ask(["users", "roles", email, "none"])).toMatchObject({ roles: [] });
    expect(await auditOf("admin.roles_changed")).toMatchObject([{ data: { userId, roles: [], before: ["auditor"] } }]);
  });

  it("I2: an admin's link lets a user decide for an identity elsewhere, and nobody else", async () => {
    const person = await addPerson(service, "Link");
    const other = await addPerson(service, "Other");
    const link = (email: string, iss: string, sub: string) => ["users", "link", email, "--iss", iss, "--sub", sub];
    const linked = { userId: person.userId, iss: foreign, sub: "user_456" };
    expect(await cli.ask(link(person.email, foreign, "user_456"))).toEqual({ ...linked, changed: true });
    const [again, taken, own] = await Promise.all([
      cli.ask(link(person.email, foreign, "user_456")),
      cli.fail(link(other.email, foreign, "user_456")),
      cli.fail(link(other.email, url, person.sub)),
    ]);
    expect(again).toEqual({ ...linked, changed: false });
    expect(taken).toMatchObject({
      error: { code: "invalid_request", message: expect.stringContaining("belongs to another user") },
    });
    expect(own).toMatchObject({
      error: { message: expect.stringContaining("is this service itself") },
    });

    const client = await addTestClient(service, { issuers: [foreign] });
    const { id } = await mintApproval(client, { iss: foreign, sub: "user_456" });
    const { session } = await signIn(service, person);
    await decideAs(service, session, id, "accept");
    expect(await service.prisma.approval.findUnique({ where: { id } })).toMatchObject({ decision: "accept" });
  });
});

describe("the command", () => {
  it("takes no secret as an argument, and a wrong call ends with 2", async () => {
    const args = ["users", "add", "--email", "a@example.com", "--name", "A", "--password", password];
    const refused = await cli.fail(args, `${password}\n`);
    expect(refused).toEqual({ code: 2, error: { code: "usage", message: "unknown option '--password'" } });
    expect(await cli.fail(["keys"])).toMatchObject({ code: 2, error: { code: "usage" } });
    const inWords = await cli.run(["clients", "add"]);
    expect(inWords).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("--name <name>") });
  });

  it("writes no secret to standard error, not even when it logs everything", async () => {
    const everything = { LOG_LEVEL: "trace" };
    const { clientId } = await addClient(service, { name: "Quiet" }, actor);
    const added = await cli.run(
      ["users", "add", "--email", "quiet@example.com", "--name", "Q"],
      `${password}\n`,
      everything,
    );
    const made = await cli.run(["keys", "create", "--client", clientId, "--json"], "", everything);
    expect([added.code, made.code]).toEqual([0, 0]);
    expect(made.stderr).toContain('"level":30');
    const { apiKey } = JSON.parse(made.stdout) as { apiKey: string };
    for (const secret of [password, "another long password", apiKey.slice(-43)])
      expect(cli.complaints()).not.toContain(secret);
    expect((await service.prisma.apiKey.findMany({ where: { clientId } }))[0]?.scopes).toEqual([...scopes]);
  });
});
