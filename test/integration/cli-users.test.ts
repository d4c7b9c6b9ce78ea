import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Service } from "@/lib/process";
import { readSession } from "@/lib/sessions/read";
import { authenticate } from "@/lib/users/authenticate";
import { isAuthenticIdentity } from "@/lib/users/identity";
import { addPerson, password, signIn } from "../support/actors";
import { type CommandLine, commandLine } from "../support/command-line";
import { createTestService, type TestService } from "../support/database";

const issuer = "https://login.example.com";

// Each call is a process of its own, slow to start on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let t: TestService;
let service: Service;
let cli: CommandLine;

beforeAll(async () => {
  t = await createTestService();
  ({ service } = t);
  cli = commandLine({
    DATABASE_URL: t.databaseUrl,
    COUNTERSIGN_URL: service.config.url,
    COUNTERSIGN_SECRET: Buffer.from(service.config.secret ?? []).toString("hex"),
  });
});
afterAll(() => t.stop());

type Added = { userId: string; iss: string; sub: string };
const addArgs = (...more: string[]) => ["users", "add", "--name", "Pat", ...more];

describe("users add", () => {
  it("adds somebody of a provider beforehand: without a password, deciding for that identity, with a role that counts", async () => {
    const sub = "user 789";
    const added = await cli.ask<Added>(addArgs("--iss", issuer, "--sub", sub, "--roles", "auditor"));
    expect(added).toEqual({ userId: expect.stringMatching(/^usr_/), iss: issuer, sub });
    const user = await service.prisma.user.findUniqueOrThrow({
      where: { id: added.userId },
      include: { identities: true },
    });
    expect(user).toMatchObject({ email: null, contact: null, name: "Pat", passwordHash: null });
    expect(user.identities).toMatchObject([{ iss: issuer, sub, mayApprove: true, linkedBy: "sign_in" }]);
    expect(user.identities.every((row) => isAuthenticIdentity(service.secrets, row))).toBe(true);
    const { session } = await signIn(service, { ...added, email: "" });
    expect(session).toMatchObject({ account: "Pat", roles: ["auditor"] });

    const [taken, listed, passwd] = await Promise.all([
      cli.fail(addArgs("--iss", issuer, "--sub", sub)),
      cli.ask<{ users: { userId: string }[] }>(["users", "list"]),
      cli.fail(["users", "passwd", added.userId], `${password}\n`),
    ]);
    expect(taken).toMatchObject({ code: 1, error: { message: expect.stringContaining("belongs to another user") } });
    expect(listed.users.find(({ userId }) => userId === added.userId)).toMatchObject({
      email: null,
      name: "Pat",
      roles: ["auditor"],
      isDisabled: false,
      identities: [{ iss: issuer, sub }],
    });
    expect(passwd).toMatchObject({ code: 1, error: { message: expect.stringContaining("signs in at a provider") } });
    // What was refused has left nothing behind.
    expect(await service.prisma.user.count({ where: { name: "Pat" } })).toBe(1);
  });

  it("refuses this service's own issuer, half an identity, none at all, and an address beside one", async () => {
    const answers = await Promise.all([
      cli.fail(addArgs("--iss", service.issuer, "--sub", "usr_x")),
      cli.fail(addArgs("--iss", issuer)),
      cli.fail(addArgs()),
      cli.fail(addArgs("--email", "pat@example.com", "--iss", issuer, "--sub", "x"), `${password}\n`),
    ]);
    expect(answers.map(({ code, error }) => [code, error.code])).toEqual([
      [1, "invalid_request"],
      [2, "usage"],
      [2, "usage"],
      [2, "usage"],
    ]);
    expect(answers[0]?.error.message).toContain("is this service itself");
  });
});

describe("users sessions, disable and enable", () => {
  it("take an address or an id, and hold at the next request", async () => {
    const person = await addPerson(service, "Sam");
    const first = await signIn(service, person);
    const isIn = async ({ cookie }: { cookie: string }) =>
      (await readSession(service, new Headers({ cookie }))) !== undefined;
    const shown = await cli.ask<{ sessions: object[] }>(["users", "sessions", person.email]);
    expect(shown.sessions).toEqual([
      expect.objectContaining({ name: expect.stringMatching(/^[\w-]{16}$/), createdAt: expect.any(String) }),
    ]);
    expect(JSON.stringify(shown)).not.toContain(first.session.sid);
    expect(await cli.ask(["users", "sessions", person.userId, "--end"])).toEqual({
      userId: person.userId,
      endedSessions: 1,
    });
    expect(await isIn(first)).toBe(false);

    const second = await signIn(service, person);
    expect(await cli.ask(["users", "disable", person.userId])).toMatchObject({ changed: true, endedSessions: 1 });
    expect(await isIn(second)).toBe(false);
    expect(await authenticate(service, person.email, password)).toBeUndefined();
    expect(await cli.ask(["users", "enable", person.email])).toEqual({ userId: person.userId, changed: true });
    expect(await authenticate(service, person.email, password)).toMatchObject({ id: person.userId });
  });

  it("say which role counts and which only stands there (I17)", async () => {
    const person = await addPerson(service, "Mal");
    await service.pool.query(`UPDATE "user" SET "roles" = '{admin}' WHERE "id" = $1`, [person.userId]);
    expect(await cli.ask(["users", "roles", person.email])).toEqual({
      userId: person.userId,
      roles: [],
      ignored: ["admin"],
    });
  });
});
