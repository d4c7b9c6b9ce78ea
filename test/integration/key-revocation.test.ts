import { randomBytes } from "node:crypto";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { openForPerson } from "@/lib/approvals/open";
import { commitChange, readApproval } from "@/lib/approvals/store";
import { transition } from "@/lib/approvals/transitions";
import { readAudited } from "@/lib/audit/read";
import { createSigningKey } from "@/lib/keys/create";
import type { KeyRing } from "@/lib/keys/key-ring";
import { kidOf } from "@/lib/keys/kid-of";
import { listSigningKeys } from "@/lib/keys/list";
import { revokeSigningKey } from "@/lib/keys/revoke";
import { rotateSigningKey } from "@/lib/keys/rotate";
import { insertSigningKey } from "@/lib/keys/store";
import type { Service } from "@/lib/process";
import { checkStoredReceipt } from "@/lib/receipts/check";
import { judgeReceipt } from "@/lib/receipts/judge";
import { signReceipt } from "@/lib/receipts/sign";
import { signRecord } from "@/lib/records/sign";
import { verifyRecord } from "@/lib/records/verify";
import { startService } from "@/lib/service/start";
import {
  addPerson,
  addTestClient,
  apiFor,
  mintApproval,
  mintBody,
  type Person,
  signIn,
  type TestClient,
} from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";

const actor = { kind: "admin", via: "cli" } as const;
const minutes = (count: number) => count * 60_000;

/** Another process on the database that hears of nothing and whose worker does not run: its keys are those of its start. */
async function startDeaf(t: TestService): Promise<{ service: Service; stop(): Promise<void> }> {
  return startService(t.service.config, { listen: false, log: pino({ level: "silent" }) });
}

/** The ring of somebody who has taken the key that signs now. */
async function steal(service: Service): Promise<{ kid: string; ring: KeyRing }> {
  const taken = service.keys.signer();
  return { kid: taken.kid, ring: { ...service.keys, signer: () => taken } };
}

/** A key that signs from now on, beside the one that did. */
async function addSigner(service: Service): Promise<string> {
  const from = new Date(Date.now() - 1);
  const key = await createSigningKey(service.secrets, { publishFrom: from, activeFrom: from });
  await insertSigningKey(service.pool, key);
  await service.keys.refresh();
  return key.kid;
}

async function consumeOn(service: Service, client: TestClient, person: Person, id: string, consumerToken?: string) {
  const response = await apiFor(service, client.apiKey)("POST", `/approvals/${id}/consume`, {
    caller: mintBody(person).caller,
    action: mintBody(person).action,
    consumerToken: consumerToken ?? randomBytes(32).toString("base64url"),
  });
  const answer = (await response.json()) as { code?: string; granted?: boolean };
  return answer.code ?? "granted";
}

async function stored(service: Service, id: string) {
  const read = await readApproval(service.pool, id);
  if (!read) throw new Error("not stored");
  return read.approval;
}

async function receiptOf(service: Service, id: string): Promise<string> {
  const approval = await stored(service, id);
  if (approval.status === "pending") throw new Error("pending");
  return approval.receipt;
}

/** Every approval that could still be decided or consumed, with the keys that it rests on. */
async function liveKids(service: Service): Promise<string[]> {
  const { rows } = await service.pool.query<{ record: string; receipt: string | null }>(
    `SELECT "record", "receipt" FROM "approval" WHERE "status" = 'pending' OR ("status" = 'accepted' AND "consumed_at" IS NULL)`,
  );
  return rows.flatMap((row) => [kidOf(row.record) ?? "", ...(row.receipt ? [kidOf(row.receipt) ?? ""] : [])]);
}

const generous = { maxMintsPerSubjectPerHour: 100_000, maxPendingPerSubject: 1_000, declineCooldownSeconds: 0 };

afterEach(() => {
  vi.useRealTimers();
});

describe("rotating the signing key", () => {
  let t: TestService;
  beforeAll(async () => {
    t = await createTestService();
  });
  afterAll(() => t.stop());

  it("twice publishes two, and the old one signs until the newer of them takes its place; then it is retired, and what it signed verifies", async () => {
    const { service } = t;
    const client = await addTestClient(service);
    const ada = await addPerson(service);
    const { id } = await mintApproval(client, ada);
    await decideAs(service, (await signIn(service, ada)).session, id, "decline");
    const first = service.keys.signer();
    const [second, third] = [await rotateSigningKey(service, actor), await rotateSigningKey(service, actor)];
    expect([second.retired, third.retired]).toEqual([[], []]);
    expect(service.keys.signer().kid).toBe(first.kid);
    expect(service.keys.signer(new Date(Date.now() + minutes(11))).kid).toBe(third.kid);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + minutes(11) });
    const fourth = await rotateSigningKey(service, actor);
    vi.useRealTimers();
    expect(fourth.retired.toSorted()).toEqual([first.kid, second.kid].toSorted());
    const listed = new Map((await listSigningKeys(service)).map((key) => [key.kid, key.status]));
    expect([first, second, third, fourth].map(({ kid }) => listed.get(kid))).toEqual([
      "retired",
      "retired",
      "next",
      "next",
    ]);
    const row = await service.prisma.signingKey.findUniqueOrThrow({ where: { kid: first.kid } });
    expect(row.privateJwe).toBeNull();
    const approval = await stored(service, id);
    if (approval.status === "pending") throw new Error("pending");
    expect(await checkStoredReceipt(service, approval)).toMatchObject({ decision: "decline" });
    expect(await verifyRecord(service, approval)).toBeDefined();
  });

  it("I17: makes no key ours that was written into the database: a foreign row is neither retired nor trusted by it", async () => {
    const { service } = t;
    const own = { kek: new Uint8Array(randomBytes(32)), row: new Uint8Array(randomBytes(32)) };
    const foreign = await createSigningKey(own, { publishFrom: new Date(0), activeFrom: new Date(0) });
    await insertSigningKey(service.pool, foreign);
    const { retired } = await rotateSigningKey(service, actor);
    expect(retired).not.toContain(foreign.kid);
    expect(await service.keys.find(foreign.kid)).toBeUndefined();
    const row = await service.prisma.signingKey.findUniqueOrThrow({ where: { kid: foreign.kid } });
    expect([row.status, Buffer.from(row.mac).equals(Buffer.from(foreign.mac))]).toEqual(["active", true]);
    await expect(revokeSigningKey(service, { kid: foreign.kid }, actor)).rejects.toMatchObject({
      code: "integrity_failed",
    });
    expect((await listSigningKeys(service)).find((key) => key.kid === foreign.kid)?.status).toBe("unauthentic");
    await service.prisma.signingKey.delete({ where: { kid: foreign.kid } });
    await service.keys.refresh();
  });
});

describe("revoking a signing key", () => {
  let t: TestService;
  let deaf: Awaited<ReturnType<typeof startDeaf>>;
  let client: TestClient;
  let ada: Person;

  beforeAll(async () => {
    t = await createTestService();
    client = await addTestClient(t.service, generous);
    ada = await addPerson(t.service);
    deaf = await startDeaf(t);
  });
  afterAll(async () => {
    await deaf?.stop();
    await t.stop();
  });

  it("refuses a key that there is none of, and an instant that is to come, and changes nothing", async () => {
    const before = await listSigningKeys(t.service);
    await expect(revokeSigningKey(t.service, { kid: "unknown" }, actor)).rejects.toMatchObject({ code: "not_found" });
    const { kid } = t.service.keys.signer();
    const since = new Date(Date.now() + minutes(1));
    await expect(revokeSigningKey(t.service, { kid, since }, actor)).rejects.toMatchObject({ code: "invalid_request" });
    expect(await listSigningKeys(t.service)).toEqual(before);
  });

  it("withdraws what is open by it, lets another key sign at once, publishes it no more, and destroys its private part", async () => {
    const { service } = t;
    const { session } = await signIn(service, ada);
    const [pending, accepted, consumed, declined] = await Promise.all(
      Array.from({ length: 4 }, () => mintApproval(client, ada)),
    );
    if (!pending || !accepted || !consumed || !declined) throw new Error("not minted");
    for (const { id } of [accepted, consumed]) await decideAs(service, session, id, "accept");
    await decideAs(service, session, declined.id, "decline");
    const token = randomBytes(32).toString("base64url");
    expect(await consumeOn(service, client, ada, consumed.id, token)).toBe("granted");
    const { kid } = service.keys.signer();

    const revoked = await revokeSigningKey(service, { kid }, actor);
    expect(revoked).toMatchObject({ kid, changed: true, successor: expect.any(String) });
    expect(revoked.withdrawn.toSorted()).toEqual([pending.id, accepted.id].toSorted());
    expect(service.keys.signer().kid).toBe(revoked.successor);
    expect(service.keys.published().map((jwk) => jwk.kid)).toEqual([revoked.successor]);
    expect([await service.keys.find(kid), service.keys.isHealthy()]).toEqual([undefined, true]);
    const row = await service.prisma.signingKey.findUniqueOrThrow({ where: { kid } });
    expect([row.status, row.privateJwe]).toEqual(["revoked", null]);

    for (const { id } of [pending, accepted]) {
      const answer = await (await client.api("GET", `/approvals/${id}`)).json();
      expect(answer).toMatchObject({ status: "withdrawn", reason: "key_revoked", next: "stop" });
      expect(kidOf(await receiptOf(service, id))).toBe(revoked.successor);
      expect(await consumeOn(service, client, ada, id)).toBe("not_accepted");
      // Its person is told that it was withdrawn, and is shown nothing of what the key had signed.
      expect(await openForPerson(service, session, id)).toMatchObject({
        approval: { status: "withdrawn", reason: "key_revoked" },
        record: undefined,
      });
      expect(await openForPerson(service, (await signIn(service, await addPerson(service, "Eve"))).session, id)).toBe(
        undefined,
      );
    }
    // What had run stays as it was; not even the attempt that ran is granted it again.
    expect((await stored(service, consumed.id)).status).toBe("accepted");
    expect(await consumeOn(service, client, ada, consumed.id, token)).toBe("integrity_failed");
    // Its outcome is written down all the same.
    await client.api("POST", `/approvals/${consumed.id}/outcome`, { consumerToken: token, outcome: "succeeded" });
    expect(await stored(service, consumed.id)).toMatchObject({ consumption: { outcome: { value: "succeeded" } } });
    const { rows } = await service.pool.query(
      `SELECT "data" FROM "audit_event" WHERE "type" = 'admin.signing_key_revoked'`,
    );
    expect(rows).toEqual([{ data: { kid, since: revoked.revokedAt.toISOString(), withdrawn: 2 } }]);
  });

  it("once more changes nothing, but an earlier instant counts; a later one does not make proven what was not", async () => {
    const kid = (await listSigningKeys(t.service)).find((key) => key.status === "revoked")?.kid ?? "";
    const again = await revokeSigningKey(t.service, { kid }, actor);
    expect(again).toMatchObject({ changed: false, successor: undefined, withdrawn: [] });
    const since = new Date(Date.now() - minutes(60));
    const earlier = await revokeSigningKey(t.service, { kid, since }, actor);
    expect([earlier.changed, earlier.revokedAt.getTime()]).toEqual([true, Math.floor(since.getTime() / 1000) * 1000]);
    const later = await revokeSigningKey(t.service, { kid, since: new Date(Date.now() - minutes(5)) }, actor);
    expect([later.changed, later.revokedAt]).toEqual([false, earlier.revokedAt]);
  });

  it("makes no other key where a newer one signs already, and withdraws what is left by a retired one", async () => {
    const { service } = t;
    const { id } = await mintApproval(client, ada);
    const oldKid = service.keys.signer().kid;
    const newKid = await addSigner(service);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 5 });
    expect((await rotateSigningKey(service, actor)).retired).toContain(oldKid);
    vi.useRealTimers();
    const revoked = await revokeSigningKey(service, { kid: oldKid }, actor);
    expect(revoked).toMatchObject({ changed: true, successor: undefined, withdrawn: [id] });
    expect(kidOf(await receiptOf(service, id))).toBe(newKid);
  });

  it("a receipt that the key signed is unproven from that instant on; before it, it is genuine as far as its date can be trusted", async () => {
    const { service } = t;
    const auditor = (await signIn(service, await addPerson(service, "Audrey", ["auditor"]))).session;
    const { session } = await signIn(service, ada);
    const { id } = await mintApproval(client, ada);
    await decideAs(service, session, id, "decline");
    const verdict = async () => (await readAudited(service, auditor, id))?.receipt;
    expect(await verdict()).toMatchObject({ verdict: "genuine" });
    const { kid } = service.keys.signer();
    const receipt = await receiptOf(service, id);
    const expected = { issuer: service.issuer, audience: client.clientId };
    const signedAt = new Date(JSON.parse(Buffer.from(receipt.split(".")[1] ?? "", "base64url").toString()).iat * 1000);

    // From a second after it was signed on; that instant must have come.
    const after = new Date(signedAt.getTime() + 1_000);
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(after.getTime() + 100), { timeout: 5_000, interval: 50 });
    await revokeSigningKey(service, { kid, since: after }, actor);
    expect(await verdict()).toMatchObject({ verdict: "before_revocation", revokedAt: after });
    expect(await judgeReceipt(service, receipt, expected)).toMatchObject({ standing: "before_revocation" });
    await revokeSigningKey(service, { kid, since: signedAt }, actor);
    expect(await verdict()).toMatchObject({ verdict: "unproven", revokedAt: signedAt });
    expect(await judgeReceipt(service, receipt, expected)).toMatchObject({ standing: "unproven", revokedAt: signedAt });
    const spoilt = `${receipt.slice(0, -4)}AAAA`;
    expect(await judgeReceipt(service, spoilt, expected)).toMatchObject({
      standing: "refused",
      verdict: { reason: "bad_signature" },
    });
    // The machine API, the page and consume know no such degrees: they refuse, and say that it is the key. Nobody has tampered.
    const refused = async () => (await client.api("GET", `/approvals/${id}`)).json();
    const detail = expect.stringContaining("The key that signed this was revoked");
    expect(await refused()).toMatchObject({ code: "integrity_failed", detail });
    expect(await openForPerson(service, session, id)).toBeUndefined();
    const alarms = async () =>
      (
        await service.pool.query(
          `SELECT 1 FROM "audit_event" WHERE "type" = 'approval.receipt_refused' AND "approval_id" = $1`,
          [id],
        )
      ).rowCount;
    expect(await alarms()).toBe(0);
    // A row that was changed is told apart: whoever holds the stolen key still cannot have it say something else.
    await service.pool.query(`UPDATE "approval" SET "receipt" = $2 WHERE "id" = $1`, [id, spoilt]);
    expect(await refused()).not.toHaveProperty("detail");
    expect(await alarms()).toBe(1);
    await service.pool.query(`UPDATE "approval" SET "receipt" = $2 WHERE "id" = $1`, [id, receipt]);
    await service.pool.query(`UPDATE "approval" SET "status" = 'cancelled', "decision" = 'cancel' WHERE "id" = $1`, [
      id,
    ]);
    expect(await refused()).not.toHaveProperty("detail");
  });
});

describe("a process that has not heard of the revocation yet", () => {
  let t: TestService;
  let deaf: Awaited<ReturnType<typeof startDeaf>>;
  let client: TestClient;
  let deafClient: TestClient;
  let ada: Person;

  beforeAll(async () => {
    t = await createTestService();
    client = await addTestClient(t.service, generous);
    ada = await addPerson(t.service);
    deaf = await startDeaf(t);
    deafClient = { ...client, api: apiFor(deaf.service, client.apiKey) };
  });
  afterAll(async () => {
    await deaf?.stop();
    await t.stop();
  });

  /** Revokes the key that signs, on the other process; `deaf` still holds it as good. */
  async function revokeUnheard(): Promise<string> {
    await deaf.service.keys.refresh();
    const { kid } = t.service.keys.signer();
    await revokeSigningKey(t.service, { kid }, actor);
    expect(deaf.service.keys.published().map((jwk) => jwk.kid)).toContain(kid);
    return kid;
  }

  it("mints with the new key all the same: the database refuses a record by the revoked one", async () => {
    const kid = await revokeUnheard();
    expect(deaf.service.keys.signer().kid).toBe(kid);
    const minted = await mintApproval(deafClient, ada);
    expect(kidOf(minted.record ?? "")).toBe(t.service.keys.signer().kid);
  });

  it("also where the request takes the place of one that is open", async () => {
    const ask = (title: string) =>
      mintBody(ada, { reuse: "live", presentation: { title }, action: { tool: "t", arguments: { n: 7 } } });
    const body = { action: { tool: "t", arguments: { n: 7 } }, reuse: "live", presentation: { title: "One" } };
    const older = await addSigner(t.service);
    const first = await mintApproval(client, ada, body);
    const newer = await addSigner(t.service);
    expect([kidOf(first.record ?? ""), t.service.keys.signer().kid]).toEqual([older, newer]);
    await revokeUnheard();
    const second = await (await deafClient.api("POST", "/approvals", ask("Two"))).json();
    expect(second).toMatchObject({ status: "pending" });
    expect(kidOf((second as { record: string }).record)).toBe(t.service.keys.signer().kid);
    expect(await stored(t.service, first.id)).toMatchObject({ status: "withdrawn", reason: "superseded" });
  });

  it("commits no decision by the revoked key, however late it comes, and decides with the new one at the next try", async () => {
    const { session } = await signIn(t.service, ada);
    const { id } = await mintApproval(client, ada);
    await addSigner(t.service);
    await deaf.service.keys.refresh();
    const read = await readApproval(deaf.service.pool, id);
    const step = read && transition(read.approval, { kind: "decide", decision: "accept" }, read.now);
    if (!read || !step?.ok || step.next.status !== "accepted") throw new Error("not accepted");
    const receipt = await signReceipt(deaf.service, step.next, step.next.decidedAt);
    const kid = await revokeUnheard();
    expect(kidOf(receipt)).toBe(kid);
    const change = {
      from: read.approval,
      to: { ...step.next, receipt },
      event: step.event,
      actor: { kind: "service" },
    } as const;
    expect(await commitChange(deaf.service.pool, change)).toBe(false);
    expect((await stored(t.service, id)).status).toBe("pending");
    expect(await decideAs(deaf.service, session, id, "accept")).toEqual({ kind: "decided" });
    expect(kidOf(await receiptOf(t.service, id))).toBe(t.service.keys.signer().kid);
    expect(await consumeOn(deaf.service, client, ada, id)).toBe("granted");
  });

  it("I13: grants nothing to whoever has the key and can write the database: neither a receipt, nor a record, nor a consumption", async () => {
    const { session } = await signIn(t.service, ada);
    const [received, recorded, ran] = [
      await mintApproval(client, ada),
      await mintApproval(client, ada),
      await mintApproval(client, ada),
    ];
    // Signed by a key that stays good, so that they are not withdrawn.
    await addSigner(t.service);
    const thief = await steal(t.service);
    const kid = await revokeUnheard();
    expect(kid).toBe(thief.kid);
    const consumerToken = randomBytes(32).toString("base64url");
    for (const { id } of [received, ran]) {
      const read = await readApproval(t.service.pool, id);
      const step = read && transition(read.approval, { kind: "decide", decision: "accept" }, read.now);
      if (!step?.ok || step.next.status !== "accepted") throw new Error("not accepted");
      const { decidedAt, actBy } = step.next;
      const receipt = await signReceipt({ keys: thief.ring, issuer: t.service.issuer }, step.next, decidedAt, {
        authn: { iss: ada.iss, sub: ada.sub, via: "self" },
        viewDigest: "sha256:0",
        locale: "en",
        shownAt: decidedAt,
        authTime: Math.floor(decidedAt.getTime() / 1000),
        amr: ["pwd"],
      });
      await t.service.pool.query(
        `UPDATE "approval" SET "status" = 'accepted', "decision" = 'accept', "decided_at" = $2, "act_by" = $3, "receipt" = $4 WHERE "id" = $1`,
        [id, decidedAt, actBy, receipt],
      );
    }
    await t.service.pool.query(
      `UPDATE "approval" SET "consumed_at" = clock_timestamp(), "consumer_hash" = sha256($2::bytea) WHERE "id" = $1`,
      [ran.id, Buffer.from(consumerToken)],
    );
    const claims = JSON.parse(Buffer.from((recorded.record ?? "").split(".")[1] ?? "", "base64url").toString());
    await t.service.pool.query(`UPDATE "approval" SET "record" = $2 WHERE "id" = $1`, [
      recorded.id,
      await signRecord(thief.ring, claims),
    ]);
    for (const service of [deaf.service, t.service]) {
      expect(await consumeOn(service, client, ada, received.id)).toBe("integrity_failed");
      expect(await consumeOn(service, client, ada, ran.id, consumerToken)).toBe("integrity_failed");
      expect(await openForPerson(service, session, recorded.id)).toBeUndefined();
    }
    // Nor is a revocation forgotten by who has seen it, should the old row be put back.
    const row = await t.service.prisma.signingKey.findUniqueOrThrow({ where: { kid } });
    expect(row.status).toBe("revoked");
  });

  it("a revoked key stays revoked for who has seen it, even where its old row is put back into the database", async () => {
    const { kid } = t.service.keys.signer();
    const before = await t.service.prisma.signingKey.findUniqueOrThrow({ where: { kid } });
    await revokeSigningKey(t.service, { kid }, actor);
    await t.service.prisma.signingKey.update({ where: { kid }, data: before });
    await t.service.keys.refresh();
    expect(await t.service.keys.find(kid)).toBeUndefined();
    expect(t.service.keys.signer().kid).not.toBe(kid);
    expect(t.service.keys.published().map((jwk) => jwk.kid)).not.toContain(kid);
    await t.service.prisma.signingKey.delete({ where: { kid } });
  });

  it("one that listens knows at once", async () => {
    const other = await createTestService({ ...t.service.config });
    const { kid } = t.service.keys.signer();
    await other.service.keys.refresh();
    const { successor } = await revokeSigningKey(t.service, { kid }, actor);
    await vi.waitFor(() => expect(other.service.keys.published().map((jwk) => jwk.kid)).not.toContain(kid), 5_000);
    expect(other.service.keys.signer().kid).toBe(successor);
    await other.stop();
  });
});

describe("a revocation while others mint, decide and consume", () => {
  it("I13: leaves nothing open by the key behind, on any process, and every withdrawal has a genuine receipt", async () => {
    const t = await createTestService({ databasePoolMax: 20 });
    const deaf = await startDeaf(t);
    const { kid } = t.service.keys.signer();
    let isOver = false;
    let granted = 0;
    const unexpected: string[] = [];
    const work = async (service: Service) => {
      const client = await addTestClient(service, generous);
      const ada = await addPerson(service);
      const { session } = await signIn(service, ada);
      while (!isOver) {
        const minted = await Promise.all(
          Array.from({ length: 4 }, () => mintApproval({ ...client, api: apiFor(service, client.apiKey) }, ada)),
        );
        const results = await Promise.all(
          minted.map(async ({ id }, i) => {
            if (i === 0) return "left";
            const { kind } = await decideAs(service, session, id, "accept").catch(() => ({ kind: "gone" }));
            return i === 1 || kind !== "decided" ? kind : consumeOn(service, client, ada, id);
          }),
        );
        granted += results.filter((result) => result === "granted").length;
        const known = ["left", "decided", "already_decided", "gone", "missing", "granted", "not_accepted"];
        unexpected.push(...results.filter((result) => !known.includes(result)));
      }
    };
    const working = [t.service, deaf.service, deaf.service].map(work);
    await vi.waitFor(() => expect(granted).toBeGreaterThan(10), { timeout: 20_000, interval: 20 });
    const revoked = await revokeSigningKey(t.service, { kid }, actor);
    const atOnce = await liveKids(t.service);
    const grantedBefore = granted;
    await vi.waitFor(() => expect(granted).toBeGreaterThan(grantedBefore + 10), { timeout: 20_000, interval: 20 });
    isOver = true;
    await Promise.all(working);

    expect(atOnce).not.toContain(kid);
    expect(await liveKids(t.service)).not.toContain(kid);
    expect(unexpected).toEqual([]);
    expect(revoked.withdrawn.length).toBeGreaterThan(0);
    for (const id of revoked.withdrawn) {
      const approval = await stored(t.service, id);
      if (approval.status === "pending") throw new Error("pending");
      expect([approval.status, (await checkStoredReceipt(t.service, approval))?.reason]).toEqual([
        "withdrawn",
        "key_revoked",
      ]);
    }
    await deaf.stop();
    await t.stop();
  });

  it("of two revocations of one key at once, both end and one successor is made", async () => {
    const t = await createTestService();
    const other = await createTestService({ ...t.service.config });
    const client = await addTestClient(t.service, generous);
    const ada = await addPerson(t.service);
    const ids = await Promise.all(Array.from({ length: 20 }, async () => (await mintApproval(client, ada)).id));
    const { kid } = t.service.keys.signer();
    const both = await Promise.all([t.service, other.service].map((on) => revokeSigningKey(on, { kid }, actor)));
    expect(both.filter(({ changed }) => changed)).toHaveLength(1);
    expect(both.filter(({ successor }) => successor !== undefined)).toHaveLength(1);
    expect(both.flatMap(({ withdrawn }) => withdrawn).toSorted()).toEqual(ids.toSorted());
    expect(await listSigningKeys(t.service)).toHaveLength(2);
    await other.stop();
    await t.stop();
  });
});
