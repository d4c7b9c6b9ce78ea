import { randomBytes } from "node:crypto";
import { pinnedCredentialSchema } from "@countersign/mcp/pinned-credential";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { readPasskeys } from "@/lib/passkeys/passkey";
import { addPerson, type Person, signIn } from "@/test/support/actors";
import { type CommandLine, commandLine } from "@/test/support/command-line";
import { createTestService, type TestService } from "@/test/support/database";
import { registeredBy, steppedUp } from "@/test/support/registering";
import type { SoftwareAuthenticator } from "@/test/support/software-authenticator";

// Each call is a process of its own, slow to start on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let t: TestService;
let cli: CommandLine;
let ada: Person;
let keys: SoftwareAuthenticator[];

beforeAll(async () => {
  const secret = randomBytes(32);
  t = await createTestService({ secret: new Uint8Array(secret) });
  cli = commandLine({
    DATABASE_URL: t.databaseUrl,
    COUNTERSIGN_SECRET: secret.toString("hex"),
    COUNTERSIGN_URL: t.service.config.url,
  });
  ada = await addPerson(t.service);
  const { session } = await signIn(t.service, ada, steppedUp);
  keys = [];
  for (const alg of [-7, -8, -257] as const) keys.push(await registeredBy(t.service, session, alg));
});
afterAll(() => t.stop());

describe("countersign users passkeys", () => {
  it("prints the list that verify-receipt takes, for an address and for an id", async () => {
    for (const named of [ada.email, ada.userId]) {
      const { credentials } = await cli.ask<{ credentials: unknown[] }>(["users", "passkeys", named]);
      expect(credentials.map((credential) => pinnedCredentialSchema.parse(credential))).toEqual(
        keys.map(({ credentialId, publicKey }) => ({
          iss: ada.iss,
          sub: ada.sub,
          credentialId,
          publicKey,
          name: "Phone",
        })),
      );
      expect(credentials).toEqual(
        keys.map(() => expect.objectContaining({ createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) })),
      );
    }
  });

  it("tells people their names and what each belongs to", async () => {
    const { code, stdout } = await cli.run(["users", "passkeys", ada.email]);
    expect(code).toBe(0);
    expect(stdout).toContain(`${keys[0]?.credentialId}  Phone`);
    expect(stdout).toContain(`of ${ada.sub} at ${ada.iss}`);
    expect(stdout).toContain("not used yet");
    const bea = await addPerson(t.service, "Bea");
    expect((await cli.run(["users", "passkeys", bea.email])).stdout).toBe(`${bea.userId}:\n  none\n`);
  });

  it("removes one that was lost, of this user alone", async () => {
    const lost = keys[0]?.credentialId ?? "";
    const eve = await addPerson(t.service, "Eve");
    expect(await cli.fail(["users", "passkeys", eve.email, "--remove", lost])).toMatchObject({
      code: 1,
      error: { code: "not_found" },
    });
    const removed = await cli.ask(["users", "passkeys", ada.email, "--remove", lost]);
    expect(removed).toEqual({ userId: ada.userId, credentialId: lost, removed: true });
    const left = await readPasskeys(t.service.prisma, t.service.secrets, ada);
    expect(left.map(({ credentialId }) => credentialId)).toEqual(keys.slice(1).map(({ credentialId }) => credentialId));
    const event = { type: "person.passkey_removed", actor: { path: ["kind"], equals: "admin" } };
    expect(await t.service.prisma.auditEvent.findMany({ where: event })).toHaveLength(1);
  });
});
