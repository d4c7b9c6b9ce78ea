import { randomBytes } from "node:crypto";
import { encode } from "next-auth/jwt";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decide } from "@/lib/approvals/decide";
import { isMatchCode } from "@/lib/approvals/match-code";
import { readApproval } from "@/lib/approvals/store";
import { rightToDecide } from "@/lib/approvals/subject";
import { openCursor, sealCursor } from "@/lib/database/cursor";
import { createKeyRing } from "@/lib/keys/key-ring";
import { rotateSigningKey } from "@/lib/keys/rotate";
import { macOfPasskey, readPasskey } from "@/lib/passkeys/passkey";
import type { Service } from "@/lib/process";
import { checkStoredReceipt } from "@/lib/receipts/check";
import { verifyRecord } from "@/lib/records/verify";
import { flashCookie, readFlash } from "@/lib/requests/flash";
import { deriveSecrets } from "@/lib/secrets/derive";
import { rotateRows } from "@/lib/secrets/rotate-rows";
import { claimsFromCookie, secretOfCookie, sessionSecret, tokenCoding } from "@/lib/sessions/cookie";
import { csrfToken, isCsrfToken } from "@/lib/sessions/csrf";
import { readSession } from "@/lib/sessions/read";
import { macOfIdentity } from "@/lib/users/identity";
import { linkIdentity } from "@/lib/users/link";
import { isStamp, stampOf } from "@/lib/views/stamp";
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
import { formFor } from "@/test/support/deciding";

const actor = { kind: "admin", via: "cli" } as const;
const foreign = { iss: "https://login.example.com", sub: "user_456" };
const newSecret = () => new Uint8Array(randomBytes(32));

/** A service on the same database with the new secret alone, as it would be if the start did not refuse it. */
async function withAlone(service: Service, secret: Uint8Array): Promise<Service> {
  const secrets = deriveSecrets(secret);
  const keys = createKeyRing({ prisma: service.prisma, secrets, log: service.log });
  await keys.refresh();
  return { ...service, secrets, keys };
}

type Made = { holds(service: Service): Promise<boolean> };
type Fixture = { client: TestClient; ada: Person; session: Awaited<ReturnType<typeof signIn>> };

describe("everything that was made before a rotation of COUNTERSIGN_SECRET", () => {
  const [secretA, secretB] = [newSecret(), newSecret()];
  let old: TestService;
  let both: TestService;
  let alone: Service;
  let f: Fixture;
  const lasting = new Map<string, Made>();
  const passing = new Map<string, Made>();

  beforeAll(async () => {
    old = await createTestService({ secret: secretA });
    const { service } = old;
    const client = await addTestClient(service, { issuers: [service.issuer, foreign.iss] });
    const ada = await addPerson(service, "Ada", ["auditor"]);
    f = { client, ada, session: await signIn(service, ada) };
    await makeLasting(service);
    await makePassing(service);
    both = await createTestService({ databaseUrl: old.databaseUrl, secret: secretB, previousSecret: secretA });
    alone = await withAlone(service, secretB);
  });
  afterAll(async () => {
    await both?.stop();
    await old.stop();
  });

  async function makeLasting(service: Service) {
    const { ada, client, session } = f;
    const { id } = await mintApproval(client, ada);
    const form = await formFor(service, session.session, id, "cancel");
    expect(await decide(service, session.session, id, form)).toEqual({ kind: "decided" });
    const stored = async (of: Service) => {
      const read = await readApproval(of.pool, id);
      if (!read || read.approval.status === "pending") throw new Error("not decided");
      return read.approval;
    };
    lasting.set("a record", { holds: async (of) => (await verifyRecord(of, await stored(of))) !== undefined });
    lasting.set("a receipt", { holds: async (of) => (await checkStoredReceipt(of, await stored(of))) !== undefined });
    lasting.set("the signing keys", { holds: async (of) => of.keys.isHealthy() });
    await linkIdentity(service, { user: ada.email, ...foreign }, actor);
    lasting.set("an admin's link", {
      holds: async (of) => (await rightToDecide(of, session.session, foreign)) === "admin_link",
    });
    lasting.set("a role", {
      holds: async (of) => {
        // A session of its own, so that only the role is asked about.
        const { session: fresh } = await signIn(of, ada);
        return fresh.roles.includes("auditor");
      },
    });
    const passkey = {
      credentialId: randomBytes(16).toString("base64url"),
      userId: ada.userId,
      iss: ada.iss,
      sub: ada.sub,
      publicKey: new Uint8Array(randomBytes(77)),
      transports: ["internal"],
      isBackedUp: false,
      createdAt: new Date(),
    };
    const row = { ...passkey, counter: 0n, name: "Phone", mac: macOfPasskey(service.secrets, passkey) };
    await service.prisma.passkey.create({ data: row });
    lasting.set("a passkey", {
      holds: async (of) => (await readPasskey(of.prisma, of.secrets, passkey.credentialId)) !== undefined,
    });
  }

  async function makePassing(service: Service) {
    const { ada, client, session } = f;
    const headers = (cookie: string) => new Headers({ cookie: cookie.split(";")[0] ?? "" });
    const { sid } = session.session;
    passing.set("a session cookie", {
      holds: async (of) => (await readSession(of, headers(session.cookie))) !== undefined,
    });
    const token = (session.cookie.split("=")[1] ?? "").trim();
    passing.set("a session cookie, as next-auth reads it", {
      holds: async (of) => (await tokenCoding(of).decode({ token, secret: "not looked at" }))?.["sid"] === sid,
    });
    const state = "next-auth.state";
    const sealedState = await encode({ token: { value: "s" }, secret: sessionSecret(service), salt: state });
    passing.set("a sign-in under way at a provider", {
      holds: async (of) =>
        (await secretOfCookie(of, headers(`${state}=${sealedState}`), state)) === sessionSecret(service),
    });
    const binding = { sid, purpose: "decide", target: "apr_x" } as const;
    const csrf = csrfToken(service.secrets, binding);
    passing.set("the token of a form", { holds: async (of) => isCsrfToken(of.secrets, binding, csrf) });
    const rendering = { approvalId: "apr_x", sid, viewDigest: "sha256:0", locale: "en", renderedAt: 1 } as const;
    const stamp = stampOf(service.secrets, rendering);
    passing.set("the stamp of a page", { holds: async (of) => isStamp(of.secrets, rendering, stamp) });
    const flash = await flashCookie(service, { sid, target: "apr_x" }, { notice: "choose", note: "mine" });
    passing.set("a notice and the note that was typed", {
      holds: async (of) => (await readFlash(of, headers(flash), { sid, target: "apr_x" }))?.note === "mine",
    });
    const cursor = sealCursor(service.secrets, "reader", ["p"]);
    passing.set("a page cursor", { holds: async (of) => openCursor(of.secrets, "reader", cursor) !== undefined });

    const post = async (of: Service, body: object, key?: string) => {
      const answer = await apiFor(of, client.apiKey)(
        "POST",
        "/approvals",
        body,
        key === undefined ? {} : { "Idempotency-Key": key },
      );
      const isReplayed = answer.headers.get("Idempotency-Replayed") === "true";
      return { isReplayed, body: (await answer.json()) as { id?: string; code?: string; matchCode?: string } };
    };
    const asked = mintBody(ada, {
      action: { tool: "t", arguments: { n: 1 } },
      requirements: { matchCode: true },
      ttlSeconds: 3_000,
    });
    const first = await post(service, asked, "key-1");
    passing.set("an idempotent request", {
      holds: async (of) => {
        const again = await post(of, asked, "key-1");
        return again.isReplayed && again.body.id === first.body.id;
      },
    });
    passing.set("a confirmation code, in the chat and on the page", {
      holds: async (of) => {
        const again = await post(of, asked, "key-1");
        return again.body.matchCode !== undefined && again.body.matchCode === first.body.matchCode;
      },
    });
    const live = mintBody(ada, { action: { tool: "t", arguments: { n: 2 } }, reuse: "live", ttlSeconds: 3_000 });
    const reused = await post(service, live);
    passing.set("a live request that is asked again", {
      holds: async (of) => (await post(of, live)).body.id === reused.body.id,
    });
    const refused = mintBody(ada, { action: { tool: "t", arguments: { n: 3 } } });
    const { body } = await post(service, refused);
    const form = await formFor(service, session.session, body.id ?? "", "decline");
    await decide(service, session.session, body.id ?? "", form);
    passing.set("a decline of a moment ago", {
      holds: async (of) => (await post(of, refused)).body.code === "recently_declined",
    });
  }

  const heldBy = async (made: Map<string, Made>, service: Service) => {
    const held: string[] = [];
    for (const [name, { holds }] of made) if (await holds(service)) held.push(name);
    return held;
  };

  it("is nothing to the new secret alone: it does not even start", async () => {
    expect(await heldBy(lasting, alone)).toEqual([]);
    expect(await heldBy(passing, alone)).toEqual([]);
    await expect(createTestService({ databaseUrl: old.databaseUrl, secret: secretB })).rejects.toThrow(
      /belongs to another COUNTERSIGN_SECRET/,
    );
  });

  it("works with the new secret and the old one beside it, all of it", async () => {
    expect(await heldBy(lasting, both.service)).toEqual([...lasting.keys()]);
    expect(await heldBy(passing, both.service)).toEqual([...passing.keys()]);
  });

  it("also a page that was on the screen: its form decides, with its code", async () => {
    const { service } = both;
    const minted = await mintApproval(f.client, f.ada, { requirements: { matchCode: true } });
    const form = await formFor(old.service, f.session.session, minted.id, "accept", { code: minted.matchCode ?? "" });
    const wrong = { ...form, code: minted.matchCode === "99" ? "98" : "99" };
    expect(await decide(service, f.session.session, minted.id, wrong)).toMatchObject({ notice: "code_wrong" });
    expect(await decide(service, f.session.session, minted.id, form)).toEqual({ kind: "decided" });
    const consumed = await apiFor(service, f.client.apiKey)("POST", `/approvals/${minted.id}/consume`, {
      caller: mintBody(f.ada).caller,
      action: mintBody(f.ada).action,
      consumerToken: randomBytes(32).toString("base64url"),
    });
    expect(consumed.status).toBe(200);
  });

  it("lasting things work with the new secret alone once their rows are rotated, what was under way ends with the old one", async () => {
    const trial = await rotateRows(both.service, actor, { isTrial: true });
    const rotated = await rotateRows(both.service, actor);
    expect([rotated.unverified, rotated.rewritten]).toEqual([[], trial.rewritten]);
    expect(Object.fromEntries(rotated.tables.map(({ table, rewritten }) => [table, rewritten]))).toEqual({
      service: 1,
      "signing keys": 1,
      identities: 2,
      roles: 1,
      passkeys: 1,
      "webhook endpoints": 0,
    });
    expect((await rotateRows(both.service, actor)).rewritten).toBe(0);
    const after = await createTestService({ databaseUrl: old.databaseUrl, secret: secretB });
    expect(await heldBy(lasting, after.service)).toEqual([...lasting.keys()]);
    expect(await heldBy(passing, after.service)).toEqual([]);
    expect(await heldBy(lasting, both.service)).toEqual([...lasting.keys()]);
    await after.stop();
    await expect(createTestService({ databaseUrl: old.databaseUrl, secret: secretA })).rejects.toThrow(/another/);
    const { rows } = await old.service.pool.query(
      `SELECT "data" FROM "audit_event" WHERE "type" = 'admin.secret_rotated' ORDER BY "seq"`,
    );
    expect(rows.map((row) => row.data)).toEqual([
      { rewritten: trial.rewritten, unverified: 0 },
      { rewritten: 0, unverified: 0 },
    ]);
  });
});

describe("rotating the rows", () => {
  it("I17: leaves what is of neither secret as it is, says so, and authenticates nothing by it", async () => {
    const [secretA, secretB] = [newSecret(), newSecret()];
    const old = await createTestService({ secret: secretA });
    const ada = await addPerson(old.service);
    const eve = await addPerson(old.service, "Eve");
    const forged = { ...foreign, userId: eve.userId, mayApprove: true, linkedBy: "admin" };
    await old.service.prisma.identity.create({ data: { ...forged, mac: new Uint8Array(32) } });
    await old.service.pool.query(`UPDATE "user" SET "roles" = '{admin}', "roles_mac" = $2 WHERE "id" = $1`, [
      eve.userId,
      Buffer.alloc(32),
    ]);
    const { rows } = await old.service.pool.query<{ kid: string }>(
      `INSERT INTO "signing_key" SELECT 'forged', "public_jwk", "private_jwe", "status", "publish_from", "active_from", NULL, NULL, "mac"
       FROM "signing_key" RETURNING "kid"`,
    );
    const both = await createTestService({ databaseUrl: old.databaseUrl, secret: secretB, previousSecret: secretA });
    const { unverified } = await rotateRows(both.service, actor);
    expect(unverified.map(({ table, name }) => `${table}: ${name}`).toSorted()).toEqual([
      `identities: ${foreign.sub} at ${foreign.iss}`,
      `roles: ${eve.userId}`,
      `signing keys: ${rows[0]?.kid}`,
    ]);
    const { session } = await signIn(both.service, eve);
    expect([session.roles, await rightToDecide(both.service, session, foreign)]).toEqual([[], undefined]);
    expect([both.service.keys.isHealthy(), await both.service.keys.find("forged")]).toEqual([false, undefined]);
    expect((await signIn(both.service, ada)).session.userId).toBe(ada.userId);
    await both.stop();
    await old.stop();
  });

  it("retires a signing key whose private part is of neither secret: what it has signed verifies on, and the previous secret can go", async () => {
    const [secretA, secretB] = [newSecret(), newSecret()];
    const old = await createTestService({ secret: secretA });
    const client = await addTestClient(old.service);
    const ada = await addPerson(old.service);
    const { id } = await mintApproval(client, ada);
    const { kid } = old.service.keys.signer();
    await old.service.pool.query(`UPDATE "signing_key" SET "private_jwe" = 'spoilt'`);
    const both = await createTestService({ databaseUrl: old.databaseUrl, secret: secretB, previousSecret: secretA });
    const trial = await rotateRows(both.service, actor, { isTrial: true });
    expect([trial.rewritten > 0, trial.retiredKeys]).toEqual([true, [kid]]);
    expect(await rotateRows(both.service, actor)).toMatchObject({ retiredKeys: [kid], unverified: [] });
    expect(await rotateRows(both.service, actor)).toMatchObject({ rewritten: 0, retiredKeys: [], unverified: [] });
    const audited = await old.service.pool.query(
      `SELECT "data"->'retired' AS "retired" FROM "audit_event" WHERE "type" = 'admin.secret_rotated' ORDER BY "seq"`,
    );
    expect(audited.rows).toEqual([{ retired: [kid] }, { retired: null }]);
    const { rows } = await old.service.pool.query(`SELECT "status", "private_jwe" FROM "signing_key"`);
    expect(rows).toEqual([{ status: "retired", private_jwe: null }]);
    const after = await createTestService({ databaseUrl: old.databaseUrl, secret: secretB });
    const read = await readApproval(after.service.pool, id);
    expect(read && (await verifyRecord(after.service, read.approval))).toBeDefined();
    for (const of of [after, both, old]) await of.stop();
  });

  it("reaches every row of a long table, page by page", async () => {
    const [secretA, secretB] = [newSecret(), newSecret()];
    const old = await createTestService({ secret: secretA });
    const ada = await addPerson(old.service);
    for (let i = 0; i < 1_100; i += 1) {
      const row = { iss: foreign.iss, sub: `u${i}`, userId: ada.userId, mayApprove: true, linkedBy: "admin" };
      await old.service.prisma.identity.create({ data: { ...row, mac: macOfIdentity(old.service.secrets, row) } });
    }
    const both = await createTestService({ databaseUrl: old.databaseUrl, secret: secretB, previousSecret: secretA });
    const { tables } = await rotateRows(both.service, actor);
    expect(tables.find(({ table }) => table === "identities")?.rewritten).toBe(1_101);
    expect(await rotateRows(both.service, actor)).toMatchObject({ rewritten: 0, unverified: [] });
    await both.stop();
    await old.stop();
  });
});

describe("two processes, each with the other's secret as its previous one", () => {
  const [secretA, secretB] = [newSecret(), newSecret()];
  const limits = { maxPendingPerSubject: 90, maxMintsPerSubjectPerHour: 1_000 };
  let a: TestService;
  let b: TestService;
  let client: TestClient;
  let ada: Person;

  beforeAll(async () => {
    a = await createTestService({ secret: secretA, previousSecret: secretB });
    b = await createTestService({ databaseUrl: a.databaseUrl, secret: secretB, previousSecret: secretA });
    client = await addTestClient(a.service, limits);
    ada = await addPerson(b.service);
  });
  afterAll(async () => {
    await b?.stop();
    await a.stop();
  });

  it("understand each other in everything, so that a rotation needs no stop", async () => {
    for (const [one, other] of [
      [a.service, b.service],
      [b.service, a.service],
    ] as const) {
      const { session, cookie } = await signIn(one, ada);
      expect(await claimsFromCookie(other, new Headers({ cookie }))).toMatchObject({ sid: session.sid });
      const minted = await mintApproval({ ...client, api: apiFor(one, client.apiKey) }, ada, {
        requirements: { matchCode: true },
      });
      const form = await formFor(one, session, minted.id, "accept", { code: minted.matchCode ?? "" });
      expect(await decide(other, session, minted.id, form)).toEqual({ kind: "decided" });
      await rotateSigningKey(one, actor);
      await other.keys.refresh();
      expect([one.keys.isHealthy(), other.keys.isHealthy()]).toEqual([true, true]);
    }
  });

  it("give no two requests that wait for one person the same code, whichever secret a code is of and whoever asks at the same moment", async () => {
    const others = await Promise.all([1, 2, 3].map(() => addTestClient(a.service, limits)));
    const eve = await addPerson(b.service, "Eve");
    const codes: string[] = [];
    for (let round = 0; round < 14; round += 1) {
      const asked = others.flatMap((other) =>
        [a.service, b.service].map((service) =>
          mintApproval({ ...other, api: apiFor(service, other.apiKey) }, eve, { requirements: { matchCode: true } }),
        ),
      );
      for (const { matchCode } of await Promise.all(asked)) codes.push(matchCode ?? "none");
    }
    expect(new Set(codes).size).toBe(84);
  });

  it("never take both codes of an approval: only the one that was shown", async () => {
    const codes = Array.from({ length: 90 }, (_, i) => String(10 + i));
    for (const minting of [a.service, b.service]) {
      const minted = await mintApproval({ ...client, api: apiFor(minting, client.apiKey) }, ada, {
        requirements: { matchCode: true },
      });
      const read = await readApproval(a.service.pool, minted.id);
      if (!read) throw new Error("not stored");
      for (const { secrets } of [a.service, b.service])
        expect(codes.filter((code) => isMatchCode(secrets, read.approval, code))).toEqual([minted.matchCode]);
      const alone = deriveSecrets(minting === a.service ? secretB : secretA);
      expect(codes.filter((code) => isMatchCode(alone, read.approval, code))).toEqual([]);
    }
  });
});
