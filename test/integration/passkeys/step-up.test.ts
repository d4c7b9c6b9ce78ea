import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askToStepUp, stepUpWithPasskey } from "@/lib/passkeys/step-up";
import type { Service } from "@/lib/process";
import { sessionCookie } from "@/lib/sessions/cookie";
import { readSession } from "@/lib/sessions/read";
import { stepUpForAccount } from "@/lib/sessions/replace";
import type { PersonSession, SessionClaims } from "@/lib/sessions/session";
import { addPerson, addTestClient, mintApproval, type Person, signIn } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { registeredBy, steppedUp } from "@/test/support/registering";
import type { GetOverrides, SoftwareAuthenticator } from "@/test/support/software-authenticator";

let t: TestService;
let service: Service;
let ada: Person;
let key: SoftwareAuthenticator;
let approvalId: string;

beforeAll(async () => {
  t = await createTestService();
  service = t.service;
  ada = await addPerson(service);
  key = await registeredBy(service, (await signIn(service, ada)).session);
  approvalId = (await mintApproval(await addTestClient(service), ada)).id;
});
afterAll(() => t.stop());

/** Ada's session of an hour ago. */
async function oldSession(): Promise<PersonSession> {
  const { session } = await signIn(service, ada, { authTime: Math.floor(Date.now() / 1000) - 3600 });
  return session;
}

async function challengeFor(session: PersonSession, stepUpFor: string): Promise<string> {
  const question = await askToStepUp(service, session, stepUpFor);
  if (!question) throw new Error("asked in vain");
  return question.challenge;
}

async function holds(claims: SessionClaims): Promise<boolean> {
  const cookie = (await sessionCookie(service, claims)).split(";")[0] ?? "";
  return (await readSession(service, new Headers({ cookie }))) !== undefined;
}

async function tryStepUp(
  session: PersonSession,
  answered: { challenge?: string; asked?: string; for?: string; by?: SoftwareAuthenticator; with?: GetOverrides } = {},
): Promise<SessionClaims | undefined> {
  const challenge = answered.challenge ?? (await challengeFor(session, answered.asked ?? stepUpForAccount));
  const answer = JSON.stringify((answered.by ?? key).get(challenge, answered.with));
  return stepUpWithPasskey(service, session, answer, answered.for ?? stepUpForAccount);
}

describe("a step-up with a passkey", () => {
  it("proves the same person anew: a new session in the old one's place, for the approval it was made for", async () => {
    const before = await oldSession();
    const after = await tryStepUp(before, { asked: approvalId, for: approvalId });
    expect(after).toMatchObject({
      userId: ada.userId,
      iss: ada.iss,
      sub: ada.sub,
      amr: ["pop", "user"],
      stepUpFor: approvalId,
      startedAt: before.startedAt,
    });
    expect(after?.sid).not.toBe(before.sid);
    expect(after?.authTime).toBeGreaterThan(before.authTime + 3500);
    expect(await holds(before)).toBe(false);
    expect(after && (await holds(after))).toBe(true);
  });

  it("asks the passkeys of this very identity, and nobody where there are none", async () => {
    const question = await askToStepUp(service, await oldSession(), stepUpForAccount);
    expect(question?.allowCredentials).toEqual([{ id: key.credentialId, type: "public-key" }]);
    expect(question).toMatchObject({ rpId: "localhost", userVerification: "required" });
    const { session } = await signIn(service, await addPerson(service, "Bea"));
    expect(await askToStepUp(service, session, stepUpForAccount)).toBeUndefined();
  });

  it("counts with the handle left out, which authenticators may do that were told whom to ask", async () => {
    expect(await tryStepUp(await oldSession(), { with: { userHandle: null } })).toBeDefined();
  });

  it("counts for nothing else than it was asked for: another approval, the account, another session", async () => {
    const session = await oldSession();
    for (const [asked, used] of [
      [stepUpForAccount, approvalId],
      [approvalId, stepUpForAccount],
      [approvalId, "apr_00000000000000000000000000"],
    ] as const)
      expect(await tryStepUp(session, { asked, for: used })).toBeUndefined();
    const challenge = await challengeFor(await oldSession(), stepUpForAccount);
    expect(await tryStepUp(session, { challenge })).toBeUndefined();
    expect(await holds(session)).toBe(true);
  });

  it("counts once, and the old session stays where it fails", async () => {
    const session = await oldSession();
    const challenge = await challengeFor(session, stepUpForAccount);
    expect(await tryStepUp(session, { challenge, with: { origin: "https://evil.example" } })).toBeUndefined();
    expect(await tryStepUp(session, { challenge })).toBeUndefined();
    expect(await holds(session)).toBe(true);
  });

  it("refuses a passkey of somebody else, and for an approval one of another identity of the same user", async () => {
    const eves = (await signIn(service, await addPerson(service, "Eve"))).session;
    const evesKey = await registeredBy(service, eves);
    expect(await tryStepUp(await oldSession(), { by: evesKey })).toBeUndefined();
    for (const change of [{ iss: "https://login.example.com" }, { sub: "ada" }]) {
      const other = { ...(await oldSession()), ...change };
      const answer = JSON.stringify(key.get(await challengeForAnother(other)));
      expect(await stepUpWithPasskey(service, other, answer, "apr_x")).toBeUndefined();
    }
  });

  it("answers no challenge that was written, or kept alive, without the secret (I17)", async () => {
    const session = await oldSession();
    const challenge = "C".repeat(43);
    await service.pool.query(
      `INSERT INTO "passkey_challenge" ("challenge", "purpose", "sid", "nonce", "issued_at", "expires_at")
       VALUES ($1, 'sign_in', $2, 'forged', now(), now() + INTERVAL '2 min')`,
      [challenge, session.sid],
    );
    expect(await tryStepUp(session, { challenge })).toBeUndefined();
    const late = await challengeFor(session, stepUpForAccount);
    await service.pool.query(
      `UPDATE "passkey_challenge" SET "issued_at" = now() + INTERVAL '1 min' WHERE "challenge" = $1`,
      [late],
    );
    expect(await tryStepUp(session, { challenge: late })).toBeUndefined();
  });

  it("does not revive a session that was ended meanwhile", async () => {
    const session = await oldSession();
    const challenge = await challengeFor(session, stepUpForAccount);
    await service.prisma.session.update({ where: { sid: session.sid }, data: { revokedAt: new Date() } });
    expect(await tryStepUp(session, { challenge })).toBeUndefined();
  });

  it("writes a failure into the history of the person, once an hour for a cause", async () => {
    const session = await oldSession();
    for (let tried = 0; tried < 3; tried += 1) await tryStepUp(session, { with: { type: "webauthn.create" } });
    const events = await service.prisma.auditEvent.findMany({
      where: { type: "security.passkey_failed", data: { path: ["fault"], equals: "wrong_type" } },
    });
    expect(events).toHaveLength(1);
    expect(events[0]?.actor).toEqual({ kind: "person", iss: ada.iss, sub: ada.sub, userId: ada.userId });
  });
});

/** A challenge of a session whose identity has a passkey of its own. */
async function challengeForAnother(session: PersonSession): Promise<string> {
  await registeredBy(service, { ...session, ...steppedUp, authTime: Math.floor(Date.now() / 1000) });
  return challengeFor(session, "apr_x");
}
