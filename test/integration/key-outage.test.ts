import { Writable } from "node:stream";
import { pino } from "pino";
import { beforeEach, describe, expect, it } from "vitest";
import { createMachineApp } from "@/app/api/machine";
import { decide } from "@/lib/approvals/decide";
import { settleDue } from "@/lib/approvals/settle-due";
import { createSigningKey } from "@/lib/keys/create";
import { createKeyRing } from "@/lib/keys/key-ring";
import { listSigningKeys } from "@/lib/keys/list";
import { revokeSigningKey } from "@/lib/keys/revoke";
import { rotateSigningKey } from "@/lib/keys/rotate";
import { macOfSigningKey, type SigningKeyRow } from "@/lib/keys/signing-key";
import { insertSigningKey, updateSigningKey } from "@/lib/keys/store";
import type { Service } from "@/lib/process";
import { addPerson, addTestClient, mintApproval, type Person, signIn, type TestClient } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { expireIn } from "@/test/support/deadline";
import { formFor } from "@/test/support/deciding";

const actor = { kind: "admin", via: "cli" } as const;
const minutes = (count: number) => count * 60_000;

let t: TestService;
let service: Service;

const checks = async () => {
  const response = await createMachineApp(service).fetch(new Request("http://localhost:3000/readyz"));
  return [response.status, ((await response.json()) as { checks: { keys: string } }).checks.keys];
};
const rowOf = (kid: string): Promise<SigningKeyRow> => service.prisma.signingKey.findUniqueOrThrow({ where: { kid } });
const statusOf = async (kid: string) => (await listSigningKeys(service)).find((key) => key.kid === kid)?.status;
/** Puts a private part into a row that opens with no secret, as somebody who can write the database might. */
const spoil = async (kid: string) => {
  const { privateJwe } = await rowOf(kid);
  const write = async (to: string | null) => {
    await service.pool.query(`UPDATE "signing_key" SET "private_jwe" = $2 WHERE "kid" = $1`, [kid, to]);
    await service.keys.refresh();
  };
  await write("eyJhbGciOiJkaXIifQ..AAAA.AAAA.AAAA");
  return () => write(privateJwe);
};
/** Writes a row as a holder of the secret would. */
const rewrite = async (row: SigningKeyRow) => {
  await updateSigningKey(service.pool, { ...row, mac: macOfSigningKey(service.secrets, row) });
  await service.keys.refresh();
};
/** A key that signs from then on, beside the others. */
const addSigner = async (from = new Date(Date.now() - 1)) => {
  const key = await createSigningKey(service.secrets, { publishFrom: from, activeFrom: from });
  await insertSigningKey(service.pool, key);
  await service.keys.refresh();
  return key.kid;
};

beforeEach(async () => {
  t = await createTestService();
  ({ service } = t);
  return () => t.stop();
});

describe("/readyz", () => {
  it("I13: names the keys where every row is authentic and yet none may sign: retired, or not yet active", async () => {
    const row = await rowOf(service.keys.signer().kid);
    expect(await checks()).toEqual([200, "ok"]);
    await rewrite({ ...row, status: "retired", privateJwe: null, retiredAt: new Date() });
    expect(await checks()).toEqual([503, "failed"]);
    await rewrite({ ...row, activeFrom: new Date(Date.now() + minutes(5)) });
    expect(await checks()).toEqual([503, "failed"]);
    await rewrite(row);
    expect(await checks()).toEqual([200, "ok"]);
  });

  it("names the keys where there is none left", async () => {
    await service.pool.query(`DELETE FROM "signing_key"`);
    await service.keys.refresh();
    expect(await checks()).toEqual([503, "failed"]);
  });
});

describe("the key set", () => {
  it("holds a key from the instant on at which it is to be published, and no earlier", async () => {
    const { kid } = service.keys.signer();
    const later = await addSigner(new Date(Date.now() + minutes(1)));
    expect(service.keys.published().map((jwk) => jwk.kid)).toEqual([kid]);
    const then = service.keys.published(new Date(Date.now() + minutes(2))).map((jwk) => jwk.kid);
    expect(then.toSorted()).toEqual([kid, later].toSorted());
  });
});

describe("the log", () => {
  it("names each key once when it is rejected, and again when it is after it was not", async () => {
    const lines: { kids: string[] }[] = [];
    const sink = new Writable({
      write(chunk, _encoding, done) {
        lines.push(JSON.parse(String(chunk)) as { kids: string[] });
        done();
      },
    });
    const keys = createKeyRing({ prisma: service.prisma, secrets: service.secrets, log: pino(sink) });
    const [first, second] = [service.keys.signer().kid, await addSigner()];
    const restore = await spoil(first);
    for (const _ of [1, 2]) await keys.refresh();
    expect(lines.map(({ kids }) => kids)).toEqual([[first]]);
    await restore();
    const restoreSecond = await spoil(second);
    for (const _ of [1, 2]) await keys.refresh();
    expect(lines.map(({ kids }) => kids)).toEqual([[first], [second]]);
    await restoreSecond();
    await keys.refresh();
    await spoil(second);
    await keys.refresh();
    expect(lines.map(({ kids }) => kids)).toEqual([[first], [second], [second]]);
  });
});

describe("while no key can sign", () => {
  let client: TestClient;
  let ada: Person;
  beforeEach(async () => {
    client = await addTestClient(service);
    ada = await addPerson(service);
  });

  it("I13: a decision is refused as unavailable and leaves the approval as it was; afterwards the same form decides", async () => {
    const { id } = await mintApproval(client, ada);
    const { session } = await signIn(service, ada);
    const form = await formFor(service, session, id, "accept");
    const restore = await spoil(service.keys.signer().kid);
    await expect(decide(service, session, id, form)).rejects.toMatchObject({ code: "unavailable" });
    const status = async () => (await service.prisma.approval.findUniqueOrThrow({ where: { id } })).status;
    expect(await status()).toBe("pending");
    await restore();
    expect(await decide(service, session, id, form)).toEqual({ kind: "decided" });
    expect(await status()).toBe("accepted");
  });

  it("I13: a withdrawal and an expiry wait; neither is written without a receipt, and both follow later", async () => {
    const [withdrawn, expired] = [await mintApproval(client, ada), await mintApproval(client, ada)];
    await expireIn(service, expired.id, 0);
    const restore = await spoil(service.keys.signer().kid);
    const withdraw = () => client.api("POST", `/approvals/${withdrawn.id}/withdraw`, { reason: "aborted" });
    const refused = await withdraw();
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([503, "unavailable"]);
    await expect(settleDue(service)).rejects.toMatchObject({ code: "unavailable" });
    const { rows } = await service.pool.query(`SELECT DISTINCT "status", "receipt" FROM "approval"`);
    expect(rows).toEqual([{ status: "pending", receipt: null }]);
    await restore();
    expect(await settleDue(service)).toBe(1);
    expect((await withdraw()).status).toBe(200);
  });

  it("revoking the spoilt key makes another one, withdraws what rested on it, and the process is ready again", async () => {
    const { id } = await mintApproval(client, ada);
    const { kid } = service.keys.signer();
    await spoil(kid);
    expect(await checks()).toEqual([503, "failed"]);
    const revoked = await revokeSigningKey(service, { kid }, actor);
    expect(revoked).toMatchObject({ changed: true, withdrawn: [id], successor: expect.any(String) });
    expect([service.keys.signer().kid, await checks()]).toEqual([revoked.successor, [200, "ok"]]);
  });
});

describe("while the newest key is spoilt and the one before it signs", () => {
  it("I13: rotating retires neither, so that there is always one that signs", async () => {
    const older = service.keys.signer().kid;
    const newer = await addSigner();
    await spoil(newer);
    expect(service.keys.signer().kid).toBe(older);
    const { retired } = await rotateSigningKey(service, actor);
    expect([retired, await statusOf(older), service.keys.signer().kid]).toEqual([[], "active", older]);
  });

  it("revoking the one that signs makes another in its place, for the spoilt one cannot take it", async () => {
    const older = service.keys.signer().kid;
    const newer = await addSigner();
    await spoil(newer);
    const { successor, changed } = await revokeSigningKey(service, { kid: older }, actor);
    expect([changed, service.keys.signer().kid]).toEqual([true, successor]);
    expect([successor === newer, await statusOf(older)]).toEqual([false, "revoked"]);
  });
});

describe("the key that takes a revoked one's place", () => {
  it("is dated back by five seconds, so that it signs too where a process's clock is behind", async () => {
    const { kid } = service.keys.signer();
    const row = await rowOf(kid);
    await rewrite({ ...row, activeFrom: new Date(Date.now() - minutes(1)) });
    const { successor } = await revokeSigningKey(service, { kid }, actor);
    expect(service.keys.signer(new Date(Date.now() - 4_000)).kid).toBe(successor);
  });

  it("is never dated before the key that it replaces, so that it is the newer of the two", async () => {
    const { kid } = service.keys.signer();
    const row = await rowOf(kid);
    await rewrite({ ...row, activeFrom: new Date(Date.now() - 500) });
    const before = await rowOf(kid);
    const { successor = "" } = await revokeSigningKey(service, { kid }, actor);
    expect((await rowOf(successor)).activeFrom.getTime()).toBe(before.activeFrom.getTime() + 1);
  });
});
