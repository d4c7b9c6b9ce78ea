import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { macOfPasskey } from "@/lib/passkeys/passkey";
import { identityTable, type MacTable, passkeyTable, rolesTable, serviceTable } from "@/lib/secrets/mac-rows";
import { rotateRows } from "@/lib/secrets/rotate-rows";
import { addPerson } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";

const count = 7;
const [secretA, secretB] = [new Uint8Array(randomBytes(32)), new Uint8Array(randomBytes(32))];
let t: TestService;

beforeAll(async () => {
  t = await createTestService({ secret: secretA });
  const { service } = t;
  for (let i = 0; i < count; i += 1) {
    const { userId, iss, sub } = await addPerson(service, `P${i}`, ["auditor"]);
    const passkey = {
      credentialId: randomBytes(16).toString("base64url"),
      userId,
      iss,
      sub,
      publicKey: new Uint8Array(randomBytes(77)),
      transports: ["internal"],
      isBackedUp: false,
      createdAt: new Date(),
    };
    const row = { ...passkey, counter: 0n, name: "Phone", mac: macOfPasskey(service.secrets, passkey) };
    await service.prisma.passkey.create({ data: row });
  }
});
afterAll(() => t.stop());

async function walk<Row extends { mac: Uint8Array }>(table: MacTable<Row>, limit: number): Promise<Row[]> {
  const walked: Row[] = [];
  for (let step = 0; step <= count; step += 1) {
    const rows = await table.page(t.service.pool, walked.at(-1), limit);
    expect(rows.length).toBeLessThanOrEqual(limit);
    if (rows.length === 0) return walked;
    walked.push(...rows);
  }
  throw new Error("the pages do not end");
}

async function expectEach<Row extends { mac: Uint8Array }>(table: MacTable<Row>, rows: number) {
  for (const limit of [1, 3, count]) {
    const walked = await walk(table, limit);
    expect(walked).toHaveLength(rows);
    expect(new Set(walked.map((row) => table.nameOf(row))).size).toBe(rows);
    for (const row of walked) expect(table.isAuthentic(t.service.secrets, row)).toBe(true);
  }
}

describe("the pages of a table whose rows carry a MAC", () => {
  it("hold every row once and end, however short they are", async () => {
    await expectEach(serviceTable, 1);
    await expectEach(identityTable, count);
    await expectEach(rolesTable, count);
    await expectEach(passkeyTable, count);
  });

  it("are all rewritten, row by row, and each row is authentic with the new secret alone", async () => {
    const { databaseUrl } = t;
    const both = await createTestService({ databaseUrl, secret: secretB, previousSecret: secretA });
    const { tables } = await rotateRows(both.service, { kind: "admin", via: "cli" });
    expect(Object.fromEntries(tables.map(({ table, rewritten }) => [table, rewritten]))).toEqual({
      service: 1,
      "signing keys": 1,
      identities: count,
      roles: count,
      passkeys: count,
      "webhook endpoints": 0,
    });
    await both.stop();
  });
});
