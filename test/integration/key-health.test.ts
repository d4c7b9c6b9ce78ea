import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { createMachineApp } from "@/app/api/machine";
import { createSigningKey } from "@/lib/keys/create";
import { createKeyRing, type KeyRing } from "@/lib/keys/key-ring";
import { openPrivateKey, unwrapPrivatePart, wrapPrivatePart } from "@/lib/keys/private-part";
import type { SigningKeyRow } from "@/lib/keys/signing-key";
import { insertSigningKey } from "@/lib/keys/store";
import type { Service } from "@/lib/process";
import {
  addPerson,
  addTestClient,
  mintApproval,
  mintBody,
  type Person,
  signIn,
  type TestClient,
} from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";

let t: TestService;
let service: Service;
let client: TestClient;
let ada: Person;

beforeAll(async () => {
  t = await createTestService();
  ({ service } = t);
  client = await addTestClient(service);
  ada = await addPerson(service, "Ada");
});
afterAll(() => t.stop());

const ready = async () => {
  const response = await createMachineApp(service).fetch(new Request("http://localhost:3000/readyz"));
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const privateParts = async () =>
  (
    await service.pool.query<{ kid: string; jwe: string }>(
      `SELECT "kid", "private_jwe" AS "jwe" FROM "signing_key" ORDER BY "kid"`,
    )
  ).rows;
const spoil = async (kid: string, jwe: string) => {
  const [before] = (await privateParts()).filter((row) => row.kid === kid);
  const write = (to: string) =>
    service.pool.query(`UPDATE "signing_key" SET "private_jwe" = $2 WHERE "kid" = $1`, [kid, to]);
  await write(jwe);
  await service.keys.refresh();
  return async () => {
    await write(before?.jwe ?? "");
    await service.keys.refresh();
  };
};

describe("a signing key whose private part alone was spoilt", () => {
  it("I13: signs nothing, though its public part verifies what it has signed; the process says that it is not ready", async () => {
    const { id } = await mintApproval(client, ada);
    const { session } = await signIn(service, ada);
    expect(await decideAs(service, session, id, "cancel")).toEqual({ kind: "decided" });
    const { kid } = service.keys.signer();
    const restore = await spoil(kid, "eyJhbGciOiJkaXIifQ..AAAA.AAAA.AAAA");
    expect(await ready()).toMatchObject({ status: 503, body: { checks: { keys: "failed", database: "ok" } } });
    const refused = await client.api("POST", "/approvals", mintBody(ada));
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([503, "unavailable"]);
    expect(await service.keys.find(kid)).toBeDefined();
    const status = (await (await client.api("GET", `/approvals/${id}`)).json()) as { status: string };
    expect(status.status).toBe("cancelled");
    await restore();
    expect((await ready()).status).toBe(200);
    await mintApproval(client, ada);
  });

  it("I17: one that holds another key's private part signs nothing either", async () => {
    const from = new Date(Date.now() - 1);
    const older = service.keys.signer().kid;
    const key = await createSigningKey(service.secrets, { publishFrom: from, activeFrom: from });
    await insertSigningKey(service.pool, key);
    await service.keys.refresh();
    const newer = service.keys.signer().kid;
    expect(newer).toBe(key.kid);
    const other = (await privateParts()).find((row) => row.kid === older)?.jwe ?? "";
    const restore = await spoil(newer, other);
    expect(service.keys.signer().kid).toBe(older);
    expect(service.keys.isHealthy()).toBe(false);
    await restore();
    expect(service.keys.signer().kid).toBe(newer);
  });
});

describe("the private part of a signing key", () => {
  const from = new Date(Date.now() - 1);
  const made = () => createSigningKey(service.secrets, { publishFrom: from, activeFrom: from });

  it("I17: opens for the key that it names alone, and only where it belongs to the public part", async () => {
    const [one, other] = [await made(), await made()];
    const plaintext = await unwrapPrivatePart(service.secrets, other.kid, other.privateJwe ?? "");
    await expect(unwrapPrivatePart(service.secrets, one.kid, other.privateJwe ?? "")).rejects.toThrow(/does not open/);
    expect(await openPrivateKey(service.secrets, one)).toBeDefined();
    for (const privateJwe of [null, other.privateJwe, await wrapPrivatePart(service.secrets, one.kid, plaintext)])
      expect(await openPrivateKey(service.secrets, { ...one, privateJwe })).toBeUndefined();
  });
});

describe("/readyz", () => {
  it("names a clock that is more than two seconds from the database's", async () => {
    onTestFinished(() => void vi.useRealTimers());
    // One that could sign before now, too: else a clock that is behind finds none.
    const from = new Date(Date.now() - 60_000);
    await insertSigningKey(
      service.pool,
      await createSigningKey(service.secrets, { publishFrom: from, activeFrom: from }),
    );
    await service.keys.refresh();
    for (const awayMs of [-3_000, 3_000]) {
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + awayMs });
      expect(await ready()).toMatchObject({ status: 503, body: { checks: { clock: "failed", keys: "ok" } } });
      vi.useRealTimers();
    }
    expect((await ready()).status).toBe(200);
  });
});

describe("reading the keys", () => {
  it("of two reads at once the later one counts, whichever ends first", async () => {
    const rows = await service.prisma.signingKey.findMany();
    const answers: ((rows: SigningKeyRow[]) => void)[] = [];
    const findMany = () => new Promise<SigningKeyRow[]>((resolve) => answers.push(resolve));
    const prisma = { signingKey: { findMany } } as unknown as Service["prisma"];
    const ring: KeyRing = createKeyRing({ prisma, secrets: service.secrets, log: pino({ level: "silent" }) });
    const [first, second] = [ring.refresh(), ring.refresh()];
    answers[1]?.(rows);
    await second;
    answers[0]?.([]);
    await first;
    expect([ring.isHealthy(), ring.published().length]).toEqual([true, rows.length]);
  });
});
