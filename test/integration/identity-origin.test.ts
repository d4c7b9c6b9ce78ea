import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Service } from "@/lib/process";
import { explainSubject } from "@/lib/users/explain-subject";
import { listIdentities } from "@/lib/users/identities";
import { macOfIdentity } from "@/lib/users/identity";
import { addPerson, type Person } from "@/test/support/actors";
import { type CommandLine, commandLine } from "@/test/support/command-line";
import { createTestService } from "@/test/support/database";

const iss = "https://login.example.com";

// Each call of the command line is a process of its own, slow to start on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let cli: CommandLine;
let service: Service;
let stop: () => Promise<void>;
let person: Person;

beforeAll(async () => {
  const secret = randomBytes(32);
  const started = await createTestService({ secret });
  ({ service, stop } = started);
  cli = commandLine({
    DATABASE_URL: started.databaseUrl,
    COUNTERSIGN_SECRET: secret.toString("hex"),
    COUNTERSIGN_URL: service.config.url,
  });
  person = await addPerson(service, "Olga");
  const write = async (at: string, sub: string, linkedBy: string, isForged = false) => {
    const row = { iss: at, sub, userId: person.userId, mayApprove: true, linkedBy };
    const mac = isForged ? new Uint8Array(32) : macOfIdentity(service.secrets, row);
    await service.prisma.identity.create({ data: { ...row, mac } });
  };
  await write(iss, "genuine", "admin");
  await write(iss, "forged", "self", true);
  await write(service.issuer, "usr_not_hers", "self", true);
  await write(iss, "forged-link", "admin", true);
});
afterAll(() => stop());

describe("I17: only a user's own account here is called that", () => {
  it("a row that says so of another identity is called nothing, and can be taken away; their own stays theirs", async () => {
    const listed = async () =>
      Object.fromEntries(
        (await listIdentities(service, person.userId)).map(({ sub, origin, isLink }) => [sub, [origin, isLink]]),
      );
    const expected = {
      [person.sub]: ["self", false],
      genuine: ["admin", true],
      forged: [null, true],
      usr_not_hers: [null, true],
      "forged-link": [null, true],
    };
    expect(await listed()).toEqual(expected);
    // Whatever became of its row, who somebody is does not change.
    await service.pool.query(`UPDATE "identity" SET "mac" = '\\x00', "linked_by" = 'sign_in' WHERE "sub" = $1`, [
      person.sub,
    ]);
    expect(await listed()).toEqual(expected);
  });

  it("on the command line too: users identities, and doctor subject", async () => {
    const { stdout } = await cli.run(["users", "identities", person.userId]);
    const lineOf = (sub: string) => stdout.split("\n").find((line) => line.startsWith(`  ${sub} at `)) ?? "";
    expect(lineOf(person.sub)).toContain("local account");
    expect(lineOf("genuine")).toContain("linked by an admin");
    for (const sub of ["forged", "usr_not_hers", "forged-link"]) {
      expect(lineOf(sub)).toContain("NOT AUTHENTIC");
      expect(lineOf(sub)).not.toMatch(/local account|linked by/);
    }
    expect((await explainSubject(service, { iss, sub: "forged" })).user?.linkedBy).toBeNull();
    const doctor = await cli.run(["doctor", "subject", iss, "forged"]);
    expect(doctor.stdout).not.toContain("local account");
  });
});
