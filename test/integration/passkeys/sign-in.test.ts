import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postPasskeyChallenge } from "@/app/signin/passkey-challenge";
import { readClock } from "@/lib/database/clock";
import { dropExpiredChallenges } from "@/lib/passkeys/challenge";
import { removePasskey } from "@/lib/passkeys/remove";
import { signInWithPasskey } from "@/lib/passkeys/sign-in";
import { makeSignInChallenge, readSignInChallenge } from "@/lib/passkeys/sign-in-challenge";
import { userHandleOf } from "@/lib/passkeys/user-handle";
import { type Service, setService } from "@/lib/process";
import { deriveSecrets } from "@/lib/secrets/derive";
import { seal } from "@/lib/secrets/seal";
import { sessionCookie } from "@/lib/sessions/cookie";
import { readSession } from "@/lib/sessions/read";
import type { PersonSession, SessionClaims } from "@/lib/sessions/session";
import { disableUser } from "@/lib/users/disable";
import { addPerson, type Person, signIn } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { authenticatorFor, registeredBy, steppedUp } from "@/test/support/registering";
import { FLAG, type GetOverrides, type SoftwareAuthenticator } from "@/test/support/software-authenticator";

const secret = new Uint8Array(randomBytes(32));
let t: TestService;
let service: Service;
let ada: Person;
let eve: Person;
let session: PersonSession;
let key: SoftwareAuthenticator;

beforeAll(async () => {
  t = await createTestService({ secret });
  service = t.service;
  setService(service);
  ada = await addPerson(service);
  eve = await addPerson(service, "Eve");
  ({ session } = await signIn(service, ada, steppedUp));
  key = await registeredBy(service, session);
});
afterAll(() => t.stop());

/** A browser that has asked for a challenge. */
async function browser(): Promise<{ challenge: string; headers: Headers }> {
  const { challenge, cookie } = await makeSignInChallenge(service);
  const headers = new Headers({ cookie: cookie.split(";")[0] ?? "", "user-agent": "test" });
  return { challenge, headers };
}

async function tryWith(
  by: SoftwareAuthenticator,
  overrides: GetOverrides = {},
  at?: Awaited<ReturnType<typeof browser>>,
): Promise<SessionClaims | undefined> {
  const { challenge, headers } = at ?? (await browser());
  return signInWithPasskey(service, JSON.stringify(by.get(challenge, overrides)), headers);
}

const faults = async () => {
  const events = await service.prisma.auditEvent.findMany({ where: { type: "security.passkey_failed" } });
  return events.map(({ data }) => (data as { fault: string }).fault);
};

describe("signing in with a passkey", () => {
  it("gives a session of the identity that registered it, without anybody having said who they are", async () => {
    const claims = await tryWith(key);
    expect(claims).toMatchObject({ userId: ada.userId, iss: ada.iss, sub: ada.sub, amr: ["pop", "user"] });
    expect(claims?.authTime).toBeGreaterThanOrEqual(session.authTime);
    const cookie = claims && (await sessionCookie(service, claims)).split(";")[0];
    expect(await readSession(service, new Headers({ cookie: cookie ?? "" }))).toMatchObject({ userId: ada.userId });
    const passkey = await service.prisma.passkey.findUnique({ where: { credentialId: key.credentialId } });
    expect(passkey?.lastUsedAt).not.toBeNull();
  });

  it("works with each of the three kinds of key", async () => {
    for (const alg of [-7, -8, -257] as const)
      expect(await tryWith(await registeredBy(service, session, alg))).toMatchObject({ sub: ada.sub });
  });

  it("refuses what was signed elsewhere, for another party, as something else, or by nobody who was verified", async () => {
    for (const wrong of [
      { origin: "https://evil.example" },
      { origin: "http://localhost:3001" },
      { origin: "http://localhost:3000/" },
      { rpId: "evil.example" },
      { type: "webauthn.create" },
      { flags: FLAG.userPresent },
      { flags: FLAG.userVerified },
      { clientData: { crossOrigin: true } },
      { clientData: { crossOrigin: true, topOrigin: "https://evil.example" } },
      { clientData: { challenge: "A".repeat(43) } },
    ])
      expect([wrong, await tryWith(key, wrong)]).toEqual([wrong, undefined]);
  });

  it("refuses the handle of another identity, and none at all", async () => {
    const evesHandle = userHandleOf(eve).toString("base64url");
    for (const userHandle of [evesHandle, "AAAA", null]) expect(await tryWith(key, { userHandle })).toBeUndefined();
  });

  it("refuses a passkey that is not registered here, a signature by another key, and a changed signature", async () => {
    const stranger = authenticatorFor(service);
    stranger.register("A".repeat(43), userHandleOf(ada).toString("base64url"));
    expect(await tryWith(stranger)).toBeUndefined();

    const { challenge, headers } = await browser();
    const forged = { ...stranger.get(challenge), id: key.credentialId, rawId: key.credentialId };
    expect(await signInWithPasskey(service, JSON.stringify(forged), headers)).toBeUndefined();

    const answer = key.get(challenge);
    const signature = Buffer.from(answer.response.signature, "base64url");
    signature[signature.length - 1] = (signature[signature.length - 1] ?? 0) ^ 1;
    const changed = { ...answer, response: { ...answer.response, signature: signature.toString("base64url") } };
    expect(await signInWithPasskey(service, JSON.stringify(changed), headers)).toBeUndefined();
    expect(await signInWithPasskey(service, "no answer", headers)).toBeUndefined();
  });

  it("takes an answer once, also where it comes twice at the same moment", async () => {
    const at = await browser();
    const answers = await Promise.all([tryWith(key, {}, at), tryWith(key, {}, at)]);
    expect(answers.filter(Boolean)).toHaveLength(1);
    expect(await tryWith(key, {}, at)).toBeUndefined();
  });

  it("takes an answer from the browser alone that asked, within two minutes by the database's clock", async () => {
    const [mine, other] = [await browser(), await browser()];
    expect(await tryWith(key, {}, { ...mine, headers: other.headers })).toBeUndefined();
    expect(await tryWith(key, {}, { ...mine, headers: new Headers() })).toBeUndefined();
    expect(
      await tryWith(key, {}, { ...mine, headers: new Headers({ cookie: "countersign.passkey=x" }) }),
    ).toBeUndefined();
    expect(await tryWith(key, {}, await browserSince(120))).toBeUndefined();
    expect(await tryWith(key, {}, await browserSince(110))).toBeDefined();
  });

  it("binds the question to the browser on https by a cookie that no other host can set, and takes no other there", async () => {
    const https = { ...service, config: { ...service.config, url: "https://approve.example.com" } };
    const { challenge, cookie } = await makeSignInChallenge(https);
    expect(cookie).toMatch(
      /^__Host-countersign\.passkey=[^;]+; Max-Age=120; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    );
    const [name = "", value = ""] = (cookie.split(";")[0] ?? "").split("=");
    const readAs = (as: string) => readSignInChallenge(https, new Headers({ cookie: `${as}=${value}` }));
    expect(await readAs(name)).toMatchObject({ challenge });
    expect(await readAs("countersign.passkey")).toBeUndefined();
  });

  it("stores nothing for whoever only asks, and nothing once the answer could not come any more", async () => {
    const count = async () => (await service.prisma.passkeyChallenge.findMany()).length;
    await dropExpiredChallenges(service.pool);
    const before = await count();
    for (let asked = 0; asked < 20; asked += 1) await browser();
    await tryWith(authenticatorFor(service));
    expect(await count()).toBe(before);
    await tryWith(key);
    expect(await count()).toBe(before + 1);
    await service.pool.query(`UPDATE "passkey_challenge" SET "expires_at" = now() - INTERVAL '1 s'`);
    expect(await dropExpiredChallenges(service.pool)).toBe(before + 1);
  });

  it("refuses a counter that did not grow, and goes on with one that does", async () => {
    const counting = await registeredBy(service, session);
    expect(await tryWith(counting, { signCount: 5 })).toBeDefined();
    for (const signCount of [5, 4, 0]) expect(await tryWith(counting, { signCount })).toBeUndefined();
    expect(await tryWith(counting, { signCount: 6 })).toBeDefined();
    expect(await faults()).toContain("counter");
  });

  it("goes on through a rotation of the secret, for what was asked before it too: the handle in the authenticator stays", async () => {
    const at = await browser();
    const rotated = { ...service, secrets: deriveSecrets(new Uint8Array(randomBytes(32)), secret) };
    const answer = JSON.stringify(key.get(at.challenge));
    expect(await signInWithPasskey(rotated, answer, at.headers)).toMatchObject({ sub: ada.sub });
  });

  it("writes a cause into the history once an hour, and the answer is the same for each", async () => {
    const seen = await faults();
    expect(new Set(seen)).toEqual(
      new Set([
        "malformed",
        "no_challenge",
        "unknown_passkey",
        "wrong_challenge",
        "wrong_origin",
        "wrong_type",
        "cross_origin",
        "wrong_user_handle",
        "bad_assertion",
        "replayed",
        "counter",
      ]),
    );
    for (let tried = 0; tried < 3; tried += 1) await tryWith(key, { origin: "https://evil.example" });
    expect(await faults()).toHaveLength(seen.length);
  });
});

describe("a passkey is useless at once", () => {
  it("where it was removed", async () => {
    const lost = await registeredBy(service, session);
    const at = await browser();
    await removePasskey(service, session, lost.credentialId);
    expect(await tryWith(lost, {}, at)).toBeUndefined();
  });

  it("where its identity is no longer its user's, or was never linked with the secret (I17)", async () => {
    const bea = await addPerson(service, "Bea");
    const hers = await registeredBy(service, (await signIn(service, bea, steppedUp)).session);
    const identity = { iss_sub: { iss: bea.iss, sub: bea.sub } };
    const { mac } = await service.prisma.identity.findUniqueOrThrow({ where: identity });
    await service.prisma.identity.update({ where: identity, data: { mac: Buffer.alloc(32) } });
    expect(await tryWith(hers)).toBeUndefined();
    await service.prisma.identity.update({ where: identity, data: { mac } });
    expect(await tryWith(hers)).toBeDefined();
    await service.prisma.identity.delete({ where: identity });
    expect(await tryWith(hers)).toBeUndefined();
  });

  it("where its user was disabled", async () => {
    const cleo = await addPerson(service, "Cleo");
    const hers = await registeredBy(service, (await signIn(service, cleo, steppedUp)).session);
    expect(await tryWith(hers)).toBeDefined();
    await disableUser(service, cleo.email, { kind: "admin", via: "cli" });
    expect(await tryWith(hers)).toBeUndefined();
  });
});

describe("the question of the sign-in page", () => {
  it("names no passkey and nobody, and is asked from our own page alone", async () => {
    const post = (headers: Record<string, string>) =>
      postPasskeyChallenge(new Request("http://localhost:3000/signin/passkey-challenge", { method: "POST", headers }));
    for (const headers of [{}, { "sec-fetch-site": "cross-site" }, { origin: "https://evil.example" }])
      expect((await post(headers)).status).toBe(403);
    const response = await post({ "sec-fetch-site": "same-origin" });
    expect(response.headers.get("set-cookie")).toMatch(
      /^countersign\.passkey=[^;]+; Max-Age=120; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(await response.json()).toEqual({
      question: {
        challenge: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
        rpId: "localhost",
        allowCredentials: [],
        userVerification: "required",
        timeout: 120_000,
      },
    });
  });
});

/** A browser whose challenge is this many seconds old. */
async function browserSince(seconds: number): ReturnType<typeof browser> {
  const challenge = randomBytes(32).toString("base64url");
  const issuedAt = (await readClock(service.pool)).getTime() - seconds * 1000;
  const value = await seal(service.secrets, "flow", "passkey-sign-in", { challenge, issuedAt });
  return { challenge, headers: new Headers({ cookie: `countersign.passkey=${value}` }) };
}
