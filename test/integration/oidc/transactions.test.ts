import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseConfig } from "@/lib/config";
import { finishFlow } from "@/lib/oidc/finish";
import type { Service } from "@/lib/process";
import { startService } from "@/lib/service/start";
import { sessionCookie } from "@/lib/sessions/cookie";
import { endSession } from "@/lib/sessions/end";
import { readSession } from "@/lib/sessions/read";
import { replaceSession } from "@/lib/sessions/replace";
import { isFresh, stepUp } from "@/lib/sessions/step-up";
import { beginTransaction, type Transaction, takeTransaction } from "@/lib/sessions/transaction";
import { addPerson, password, signIn } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";

let t: TestService;
const issuer = "https://login.example.com";
const providers = parseConfig({
  OIDC_PROVIDERS: JSON.stringify([{ id: "acme", label: "Acme", issuer, clientId: "c", clientSecret: "s" }]),
}).oidcProviders;
const [acme] = providers as [(typeof providers)[number]];

beforeAll(async () => {
  t = await createTestService({ oidcProviders: providers });
});
afterAll(() => t.stop());

const begun = (change: Partial<Transaction> = {}) =>
  beginTransaction(t.service, {
    purpose: "step_up",
    sid: "ses_x",
    userId: "usr_x",
    provider: "acme",
    approvalId: "apr_00000000000000000000000000",
    ...change,
  });

/** Somebody signed in at the provider, with the cookie of their session. */
async function signedIn(sub: string) {
  const ending = await finishFlow(t.service, {
    provider: acme,
    claims: { iss: issuer, sub, auth_time: 1_700_000_000 },
    headers: new Headers(),
  });
  if (ending.kind !== "signed_in") throw new Error("not signed in");
  const cookie = (await sessionCookie(t.service, ending.claims)).split(";")[0] ?? "";
  const session = await readSession(t.service, new Headers({ cookie }));
  if (!session) throw new Error("the session does not hold");
  return { session, headers: new Headers({ cookie }) };
}

describe("a transaction", () => {
  it("is taken once, of 20 that try at the same moment", async () => {
    const transaction = await begun();
    const taken = await Promise.all(Array.from({ length: 20 }, () => takeTransaction(t.service, transaction)));
    expect(taken.filter((now) => now !== undefined)).toHaveLength(1);
    expect(await takeTransaction(t.service, transaction)).toBeUndefined();
  });

  it("is nothing but what began: each other field refuses it, in the cookie as in the row (I17)", async () => {
    const changes: Partial<Transaction>[] = [
      { id: "sit_00000000000000000000000000" },
      { purpose: "link" },
      { sid: "ses_y" },
      { userId: "usr_y" },
      { provider: "other" },
      { approvalId: "apr_00000000000000000000000001" },
      { approvalId: null },
    ];
    for (const change of changes) {
      const transaction = await begun();
      expect(await takeTransaction(t.service, { ...transaction, ...change })).toBeUndefined();
      expect(await takeTransaction(t.service, transaction)).toBeInstanceOf(Date);
    }
    const late = await begun();
    for (const by of [-1, 1, -3_600_000])
      expect(await takeTransaction(t.service, { ...late, startedAt: late.startedAt + by })).toBeUndefined();
  });

  it("lasts ten minutes, whatever its row says later", async () => {
    const old = await begun();
    await t.service.pool.query(
      `UPDATE "sign_in_transaction" SET "expires_at" = clock_timestamp() + INTERVAL '1 day', "started_at" = "started_at" - INTERVAL '601 seconds' WHERE "id" = $1`,
      [old.id],
    );
    expect(await takeTransaction(t.service, { ...old, startedAt: old.startedAt - 601_000 })).toBeUndefined();
    const expired = await begun();
    await t.service.pool.query(`UPDATE "sign_in_transaction" SET "expires_at" = clock_timestamp() WHERE "id" = $1`, [
      expired.id,
    ]);
    expect(await takeTransaction(t.service, expired)).toBeUndefined();
  });

  it("does not stay for ever: one that nobody finished goes with the next one that begins", async () => {
    const old = await begun();
    await t.service.pool.query(
      `UPDATE "sign_in_transaction" SET "expires_at" = clock_timestamp() - INTERVAL '61 minutes' WHERE "id" = $1`,
      [old.id],
    );
    await begun();
    expect(await t.service.prisma.signInTransaction.count({ where: { id: old.id } })).toBe(0);
  });
});

describe("a step-up by the answer of a provider", () => {
  async function answered(change: { claims?: object; transaction?: Partial<Transaction>; headers?: Headers }) {
    const { session, headers } = await signedIn(`person-${Math.random()}`);
    const transaction = await begun({ sid: session.sid, userId: session.userId, ...change.transaction });
    const now = (await takeTransaction(t.service, transaction)) ?? new Date(0);
    const ending = await finishFlow(t.service, {
      provider: acme,
      claims: { iss: issuer, sub: session.sub, auth_time: Math.floor(now.getTime() / 1000), ...change.claims },
      taken: { transaction, now },
      headers: change.headers ?? headers,
    });
    return { ending, session, still: await readSession(t.service, headers) };
  }

  it("gives a session of the same identity for this approval, and ends the one before", async () => {
    const { ending, session, still } = await answered({});
    expect(ending).toMatchObject({
      kind: "stepped_up",
      claims: { userId: session.userId, iss: issuer, sub: session.sub, stepUpFor: "apr_00000000000000000000000000" },
    });
    expect(still).toBeUndefined();
  });

  it("gives nothing, and leaves the session as it is, for every other answer; the subject is judged before the age", async () => {
    const old = Math.floor(Date.now() / 1000) - 3_600;
    const cases: [object, string][] = [
      [{ claims: { sub: "somebody-else" } }, "other_account"],
      [{ claims: { sub: "somebody-else", auth_time: old } }, "other_account"],
      [{ claims: { auth_time: old } }, "not_asked_again"],
      [{ claims: { auth_time: undefined } }, "no_auth_time"],
      [{ claims: { auth_time: old + 7_200 } }, "clock_ahead"],
      [{ claims: { iss: "https://evil.example" } }, "claims"],
      [{ claims: { sub: "" } }, "claims"],
      [{ transaction: { sid: "ses_other" } }, "other_session"],
      [{ transaction: { userId: "usr_other" } }, "other_session"],
      [{ headers: new Headers() }, "other_session"],
    ];
    for (const [change, why] of cases) {
      const { ending, session, still } = await answered(change);
      expect([why, ending, still]).toEqual([why, { kind: "refused", why }, session]);
    }
  });

  it("gives nothing where the session ended in the meantime, and of two at once one at most", async () => {
    const { session } = await signedIn("ending");
    const proof = { authTime: 1, amr: [], stepUpFor: "account" };
    const made = await Promise.all(Array.from({ length: 10 }, () => replaceSession(t.service, session, proof)));
    expect(made.filter((claims) => claims !== undefined)).toHaveLength(1);
    const other = await signedIn("ending");
    await endSession(t.service, other.session);
    expect(await replaceSession(t.service, other.session, proof)).toBeUndefined();
    expect(await t.service.prisma.session.count({ where: { userId: session.userId, revokedAt: null } })).toBe(1);
  });

  it("never makes a sign-in later than now, and one that nobody dated is never fresh", async () => {
    const ending = await finishFlow(t.service, {
      provider: acme,
      claims: { iss: issuer, sub: "future", auth_time: 4_000_000_000 },
      headers: new Headers(),
    });
    expect(ending).toMatchObject({ kind: "signed_in", claims: { sub: "future" } });
    if (ending.kind !== "signed_in") return;
    expect(ending.claims.authTime).toBeLessThanOrEqual(Date.now() / 1000 + 1);
    const undated = await finishFlow(t.service, {
      provider: acme,
      claims: { iss: issuer, sub: "undated" },
      headers: new Headers(),
    });
    if (undated.kind !== "signed_in") throw new Error("not signed in");
    expect(undated.claims.authTime).toBe(0);
    expect(isFresh(undated.claims, { maxAuthAgeSeconds: 86_400, stepUpSeconds: 300 }, "apr_x", new Date())).toBe(false);
  });
});

describe("a step-up by a password", () => {
  it("is of the account that the session is, whatever the page calls it, and of local accounts alone", async () => {
    const [ada, eve] = [await addPerson(t.service, "Ada"), await addPerson(t.service, "Eve")];
    const { session } = await signIn(t.service, ada);
    const renamed = { ...session, account: eve.email };
    expect(await stepUp(t.service, renamed, "wrong password entirely", "account")).toBeUndefined();
    expect(await stepUp(t.service, renamed, password, "account")).toMatchObject({ userId: ada.userId, sub: ada.sub });
    const provided = await signedIn("with-a-password-of-another");
    expect(await stepUp(t.service, { ...provided.session, account: ada.email }, password, "account")).toBeUndefined();
    const foreign = { ...session, iss: issuer, sub: "x" };
    expect(await stepUp(t.service, foreign, password, "account")).toBeUndefined();
  });
});

describe("the start of the service", () => {
  it("stops where the people of a provider would be the local accounts of this database", async () => {
    const own: Partial<Service["config"]> = {
      ...t.service.config,
      url: "http://localhost:4999",
      oidcProviders: [{ ...acme, subjectIssuer: t.service.issuer }],
    };
    await expect(startService(own as Service["config"], { log: t.service.log })).rejects.toThrow(
      /is this service itself/,
    );
  });
});
