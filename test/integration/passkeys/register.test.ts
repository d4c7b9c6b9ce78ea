import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readPasskey, readPasskeys } from "@/lib/passkeys/passkey";
import { publicJwkOf } from "@/lib/passkeys/public-jwk";
import { askToRegister, passkeysMax, registerPasskey } from "@/lib/passkeys/register";
import { removePasskey, removePasskeyOf } from "@/lib/passkeys/remove";
import { renamePasskey } from "@/lib/passkeys/rename";
import { isUserHandleOf } from "@/lib/passkeys/user-handle";
import type { Service } from "@/lib/process";
import type { PersonSession } from "@/lib/sessions/session";
import { addPerson, type Person, signIn } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { addPasskey } from "@/test/support/passkeys";
import { authenticatorFor, registerAs, registeredBy, steppedUp } from "@/test/support/registering";
import { FLAG } from "@/test/support/software-authenticator";

let t: TestService;
let service: Service;
let ada: Person;
let session: PersonSession;
let eves: PersonSession;

beforeAll(async () => {
  t = await createTestService();
  service = t.service;
  ada = await addPerson(service);
  ({ session } = await signIn(service, ada, steppedUp));
  eves = (await signIn(service, await addPerson(service, "Eve"), steppedUp)).session;
});
afterAll(() => t.stop());

async function questionFor(of: PersonSession) {
  const asked = await askToRegister(service, of, "Phone");
  if (asked.kind !== "question") throw new Error(`asked in vain: ${asked.kind}`);
  return asked.question;
}

const old = (of: PersonSession): PersonSession => ({ ...of, authTime: of.authTime - 301 });
const auditOf = (type: string, credentialId: string) =>
  service.prisma.auditEvent.findMany({ where: { type, data: { path: ["credentialId"], equals: credentialId } } });

describe("registering a passkey", () => {
  it("asks for one that finds its account by itself and verifies its user, of the three kinds, and tells no personal data in the handle", async () => {
    const question = await questionFor(session);
    expect(question).toMatchObject({
      rp: { id: "localhost", name: "Countersign" },
      user: { name: ada.email, displayName: "Ada" },
      attestation: "none",
      authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
      pubKeyCredParams: [-8, -7, -257].map((alg) => ({ alg, type: "public-key" })),
    });
    expect(Buffer.from(question.user.id, "base64url")).toHaveLength(32);
    expect(isUserHandleOf(session, question.user.id)).toBe(true);
    expect(isUserHandleOf(eves, question.user.id)).toBe(false);
  });

  it("takes each of the three kinds of key and belongs to the identity of the session", async () => {
    for (const alg of [-7, -8, -257] as const) {
      const authenticator = await registeredBy(service, session, alg);
      const passkey = await readPasskey(service.prisma, service.secrets, authenticator.credentialId);
      expect(passkey).toMatchObject({ userId: ada.userId, iss: ada.iss, sub: ada.sub, name: "Phone", counter: 0 });
      expect(passkey && publicJwkOf(passkey.publicKey)).toEqual({ jwk: authenticator.publicKey, alg });
      expect(await auditOf("person.passkey_added", authenticator.credentialId)).toHaveLength(1);
    }
  });

  it("needs a sign-in of the last five minutes, by the database's clock", async () => {
    expect(await askToRegister(service, old(session), "Phone")).toEqual({ kind: "sign_in_again" });
  });

  it("refuses an answer given elsewhere, for another party, of another kind, or without verifying the user", async () => {
    for (const wrong of [
      { origin: "https://evil.example" },
      { origin: "http://localhost:3001" },
      { rpId: "evil.example" },
      { type: "webauthn.get" },
      { flags: FLAG.userPresent | FLAG.attested },
      { flags: FLAG.userVerified | FLAG.attested },
      { clientData: { crossOrigin: true } },
      { clientData: { topOrigin: "https://evil.example" } },
      { clientData: { challenge: "A".repeat(43) } },
    ])
      expect(await registerAs(service, session, authenticatorFor(service), wrong)).toEqual({ kind: "refused" });
  });

  it("takes a challenge once, of the session that asked, in its time", async () => {
    const authenticator = authenticatorFor(service);
    const { challenge, user } = await questionFor(session);
    const sent = { answer: JSON.stringify(authenticator.register(challenge, user.id)), name: "Phone" };
    expect(await registerPasskey(service, eves, sent)).toEqual({ kind: "refused" });
    expect(await registerPasskey(service, session, sent)).toEqual({ kind: "refused" });

    const late = await questionFor(session);
    await service.pool.query(
      `UPDATE "passkey_challenge" SET "issued_at" = "issued_at" - INTERVAL '120 s', "expires_at" = now() + INTERVAL '1 h' WHERE "challenge" = $1`,
      [late.challenge],
    );
    const lateAnswer = JSON.stringify(authenticator.register(late.challenge, user.id));
    expect(await registerPasskey(service, session, { ...sent, answer: lateAnswer })).toEqual({ kind: "refused" });
  });

  it("answers no challenge that was written into the table without the secret (I17)", async () => {
    const challenge = "B".repeat(43);
    await service.pool.query(
      `INSERT INTO "passkey_challenge" ("challenge", "purpose", "sid", "nonce", "issued_at", "expires_at")
       VALUES ($1, 'register', $2, 'forged', now(), now() + INTERVAL '2 min')`,
      [challenge, session.sid],
    );
    const answer = JSON.stringify(authenticatorFor(service).register(challenge, "AAAA"));
    expect(await registerPasskey(service, session, { answer, name: "Mine" })).toEqual({ kind: "refused" });
  });

  it("registers a credential once, whoever comes second, and names those there are", async () => {
    const authenticator = await registeredBy(service, session);
    expect(await registerAs(service, eves, authenticator)).toEqual({ kind: "refused" });
    expect(await readPasskeys(service.prisma, service.secrets, eves)).toEqual([]);
    const { excludeCredentials } = await questionFor(session);
    expect(excludeCredentials?.map(({ id }) => id)).toContain(authenticator.credentialId);
  });

  it("refuses what is no answer at all", async () => {
    for (const answer of ["", "{", "null", "[]", '{"id":"x"}', `"${"x".repeat(60_000)}"`])
      expect(await registerPasskey(service, session, { answer, name: "Phone" })).toEqual({ kind: "refused" });
  });

  it("stops at twenty of an identity, also where many are made at the same moment", async () => {
    const { session: full } = await signIn(service, await addPerson(service, "Bea"), steppedUp);
    for (let made = 0; made < passkeysMax - 2; made += 1) await registeredBy(service, full);
    const questions = await Promise.all(Array.from({ length: 5 }, () => questionFor(full)));
    const results = await Promise.all(
      questions.map(({ challenge, user }) => {
        const answer = JSON.stringify(authenticatorFor(service).register(challenge, user.id));
        return registerPasskey(service, full, { answer, name: "Phone" });
      }),
    );
    expect(results.filter(({ kind }) => kind === "registered")).toHaveLength(2);
    expect(results.filter(({ kind }) => kind === "too_many")).toHaveLength(3);
    expect(await askToRegister(service, full, "Phone")).toEqual({ kind: "too_many" });
  });
});

describe("the name of a passkey", () => {
  it("is one visible line of 1 to 60 characters, else nothing is made or changed", async () => {
    for (const name of ["", "   ", "\u200b\u2060", "x".repeat(61)])
      expect(await askToRegister(service, session, name)).toEqual({ kind: "bad_name" });
    const { credentialId } = await registeredBy(service, session);
    expect(await renamePasskey(service, session, { credentialId, name: " " })).toBe("bad_name");
    expect(await renamePasskey(service, session, { credentialId, name: "  Work\u202e\n phone  " })).toBe("renamed");
    expect((await readPasskey(service.prisma, service.secrets, credentialId))?.name).toBe("Work phone");
    expect(await auditOf("person.passkey_renamed", credentialId)).toHaveLength(1);
    expect(await renamePasskey(service, session, { credentialId, name: "電".repeat(60) })).toBe("renamed");
  });

  it("is changed within five minutes of a sign-in only, to the second", async () => {
    const { credentialId } = await registeredBy(service, session);
    const since = (seconds: number) => ({ ...session, authTime: Math.floor(Date.now() / 1000) - seconds });
    expect(await renamePasskey(service, since(301), { credentialId, name: "Late" })).toBe("sign_in_again");
    expect((await readPasskey(service.prisma, service.secrets, credentialId))?.name).toBe("Phone");
    expect(await renamePasskey(service, since(290), { credentialId, name: "In time" })).toBe("renamed");
    expect((await readPasskey(service.prisma, service.secrets, credentialId))?.name).toBe("In time");
  });

  it("is changed by nobody else", async () => {
    const { credentialId } = await registeredBy(service, session);
    expect(await renamePasskey(service, eves, { credentialId, name: "Mine" })).toBe("missing");
    expect((await readPasskey(service.prisma, service.secrets, credentialId))?.name).toBe("Phone");
  });
});

describe("a person who has a passkey", () => {
  it("adds and removes one only after a step-up for the account by one of them: no other sign-in is enough", async () => {
    const dan = await addPerson(service, "Dan");
    const { session: plain } = await signIn(service, dan);
    const first = await registeredBy(service, plain);
    const weak = [{}, { stepUpFor: "account" }, { byPasskey: true }, { byPasskey: true, stepUpFor: "apr_1" }] as const;
    for (const claims of weak) {
      const { session: of } = await signIn(service, dan, { amr: ["pop", "user"], ...claims });
      expect(await askToRegister(service, of, "Agent")).toEqual({ kind: "sign_in_again" });
      expect(await removePasskey(service, of, first.credentialId)).toBe("sign_in_again");
    }
    const { session: strong } = await signIn(service, dan, steppedUp);
    expect(await registerAs(service, strong, authenticatorFor(service))).toMatchObject({ kind: "registered" });
    expect(await removePasskey(service, strong, first.credentialId)).toBe("removed");
  });

  it("and has it on one identity registers none on another without it", async () => {
    const gil = await addPerson(service, "Gil");
    await addPasskey(service, { ...gil, iss: "https://login.example.com", sub: "gil" });
    const { session: local } = await signIn(service, gil);
    expect(await askToRegister(service, local, "Agent")).toEqual({ kind: "sign_in_again" });
  });

  it("has asked for two first ones at once: the second to answer needs the first", async () => {
    const { session: of } = await signIn(service, await addPerson(service, "Fay"));
    const [a, b] = [await askToRegister(service, of, "A"), await askToRegister(service, of, "B")];
    if (a.kind !== "question" || b.kind !== "question") throw new Error("asked in vain");
    const answers = [a, b].map(({ question }) =>
      JSON.stringify(authenticatorFor(service).register(question.challenge, question.user.id)),
    );
    const results = await Promise.all(answers.map((answer) => registerPasskey(service, of, { answer, name: "Phone" })));
    expect(results.map(({ kind }) => kind).toSorted()).toEqual(["registered", "sign_in_again"]);
  });
});

describe("removing a passkey", () => {
  it("needs a sign-in of the last five minutes, and is the owner's alone: another's answers as an unknown one", async () => {
    const { credentialId } = await registeredBy(service, session);
    expect(await removePasskey(service, old(session), credentialId)).toBe("sign_in_again");
    expect(await removePasskey(service, eves, credentialId)).toBe("missing");
    expect(await removePasskey(service, session, "unknown")).toBe("missing");
    expect(await readPasskey(service.prisma, service.secrets, credentialId)).toBeDefined();
    expect(await removePasskey(service, session, credentialId)).toBe("removed");
    expect(await removePasskey(service, session, credentialId)).toBe("missing");
    expect(await readPasskey(service.prisma, service.secrets, credentialId)).toBeUndefined();
    expect(await auditOf("person.passkey_removed", credentialId)).toHaveLength(1);
  });

  it("does not reach from one identity of a user to another", async () => {
    const { credentialId } = await registeredBy(service, session);
    const other = { ...session, iss: "https://login.example.com", sub: "ada" };
    expect(await removePasskey(service, other, credentialId)).toBe("missing");
    expect(await renamePasskey(service, other, { credentialId, name: "Mine" })).toBe("missing");
    expect(await readPasskeys(service.prisma, service.secrets, other)).toEqual([]);
  });

  it("by an admin takes it from the user who is named, and from no other", async () => {
    const { credentialId } = await registeredBy(service, session);
    const admin = { kind: "admin", via: "cli" } as const;
    const notHers = { userId: eves.userId, credentialId };
    await expect(removePasskeyOf(service, notHers, admin)).rejects.toMatchObject({ code: "not_found" });
    await removePasskeyOf(service, { userId: ada.userId, credentialId }, admin);
    const [event] = await auditOf("person.passkey_removed", credentialId);
    expect(event).toMatchObject({ actor: admin, data: { credentialId, userId: ada.userId } });
  });
});

describe("a passkey's row (I17)", () => {
  it("does not count once anything that is authenticated was changed in it, nor one written without the secret", async () => {
    for (const [column, value] of [
      ["user_id", eves.userId],
      ["iss", "https://login.example.com"],
      ["sub", eves.sub],
      ["public_key", Buffer.from("another key")],
      ["transports", ["usb"]],
      ["is_backed_up", true],
      ["created_at", new Date(0)],
    ] as const) {
      const { credentialId } = await registeredBy(service, session);
      await service.pool.query(`UPDATE "passkey" SET "${column}" = $2 WHERE "credential_id" = $1`, [
        credentialId,
        value,
      ]);
      expect([column, await readPasskey(service.prisma, service.secrets, credentialId)]).toEqual([column, undefined]);
      const listed = await readPasskeys(service.prisma, service.secrets, column === "user_id" ? eves : session);
      expect(listed.map((passkey) => passkey.credentialId)).not.toContain(credentialId);
      await service.prisma.passkey.delete({ where: { credentialId } });
    }
  });
});
