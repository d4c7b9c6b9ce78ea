import { verifyReceipt } from "@countersign/mcp/receipt";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askPasskey } from "@/lib/approvals/ask-passkey";
import { decide } from "@/lib/approvals/decide";
import type { DecisionForm } from "@/lib/approvals/decision-form";
import { signClaims } from "@/lib/keys/sign-claims";
import { removePasskeyOf } from "@/lib/passkeys/remove";
import { endUserSessions } from "@/lib/sessions/end-all";
import type { PersonSession } from "@/lib/sessions/session";
import { disableUser } from "@/lib/users/disable";
import { linkIdentity } from "@/lib/users/link";
import { unlinkIdentity } from "@/lib/users/unlink";
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
import { expireIn } from "@/test/support/deadline";
import { decideAs, formFor } from "@/test/support/deciding";
import { addPasskey } from "@/test/support/passkeys";
import type { GetOverrides, SoftwareAuthenticator } from "@/test/support/software-authenticator";

let t: TestService;
let client: TestClient;
let ada: Person;
let session: PersonSession;
let key: SoftwareAuthenticator;

beforeAll(async () => {
  t = await createTestService();
  client = await addTestClient(t.service, { maxPendingPerSubject: 100, maxMintsPerSubjectPerHour: 1_000 });
  ada = await addPerson(t.service);
  ({ session } = await signIn(t.service, ada));
  key = await addPasskey(t.service, ada);
});
afterAll(() => t.stop());

const passkeyOnly = { requirements: { passkey: "required", matchCode: false } };
let count = 0;

async function mint(change: Record<string, unknown> = {}, person: Person = ada): Promise<string> {
  count += 1;
  const action = { tool: "delete_project", arguments: { project_id: `p_${count}` } };
  return (await mintApproval(client, person, { ...passkeyOnly, action, ...change })).id;
}

async function questionFor(
  id: string,
  of: PersonSession = session,
  change: Partial<DecisionForm> = {},
): Promise<string> {
  const asked = await askPasskey(t.service, of, id, await formFor(t.service, of, id, "accept", change));
  if (asked.kind !== "question") throw new Error(`asked in vain: ${asked.kind}`);
  return asked.question.challenge;
}

const answer = (challenge: string, overrides: GetOverrides = {}, by = key) =>
  JSON.stringify(by.get(challenge, overrides));

const accept = (id: string, passkeyAnswer: string, of: PersonSession = session) =>
  decideAs(t.service, of, id, "accept", { passkeyAnswer, hasRead: false });

async function rowOf(id: string): Promise<{ status: string; receipt: string }> {
  const { rows } = await t.service.pool.query(`SELECT "status", "receipt" FROM "approval" WHERE "id" = $1`, [id]);
  return rows[0];
}

/** Until a decision waits for a row that somebody holds. */
async function untilWaiting(): Promise<void> {
  const sql = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%locked AS MATERIALIZED%' AND datname = current_database()`;
  while ((await t.service.pool.query(sql)).rows.length === 0);
}

const admin = { kind: "admin", via: "cli" } as const;
const between: Record<string, (person: Person, key: SoftwareAuthenticator) => Promise<unknown>> = {
  "the session ends": ({ userId }) => endUserSessions(t.service, userId, admin),
  "the user is disabled": ({ userId }) => disableUser(t.service, userId, admin),
  "the passkey is removed": ({ userId }, { credentialId }) =>
    removePasskeyOf(t.service, { userId, credentialId }, admin),
};

const failed = { kind: "notice", notice: "passkey_failed" };

async function expectPending(id: string, result: unknown): Promise<void> {
  expect(result).toEqual(failed);
  expect((await rowOf(id)).status).toBe("pending");
}

describe("an approval that requires a passkey", () => {
  it("is accepted by its signature over exactly this decision, and the receipt proves it offline", async () => {
    const id = await mint();
    expect(await accept(id, answer(await questionFor(id)))).toEqual({ kind: "decided" });
    const { status, receipt } = await rowOf(id);
    expect(status).toBe("accepted");
    const expected = {
      issuer: t.service.issuer,
      audience: client.clientId,
      keys: (kid: string) => t.service.keys.find(kid),
    };
    expect(await verifyReceipt(receipt, { ...expected, passkey: "required" })).toMatchObject({
      ok: true,
      claims: { approval_id: id, passkey: { credential_id: key.credentialId, origin: t.service.config.url } },
    });
  });

  it("with each kind of key that authenticators make: ES256, EdDSA, RS256", async () => {
    const bea = await addPerson(t.service, "Bea");
    const beas = (await signIn(t.service, bea)).session;
    for (const alg of [-7, -8, -257] as const) {
      const hers = await addPasskey(t.service, bea, { alg });
      const id = await mint({}, bea);
      expect(await accept(id, answer(await questionFor(id, beas), {}, hers), beas)).toEqual({ kind: "decided" });
    }
  });

  it("grants consume only with the evidence: the same receipt without it is refused, though signed by the service (I17)", async () => {
    const body = mintBody(ada);
    const { id } = await mintApproval(client, ada, { ...passkeyOnly, action: body.action });
    await accept(id, answer(await questionFor(id)));
    const consumed = { caller: body.caller, action: body.action, consumerToken: "A".repeat(43) };
    const { receipt } = await rowOf(id);
    const { passkey: _, ...bare } = JSON.parse(Buffer.from(receipt.split(".")[1] ?? "", "base64url").toString());
    const forged = await signClaims(t.service.keys, "approval-receipt+jwt", bare);
    await t.service.pool.query(`UPDATE "approval" SET "receipt" = $2 WHERE "id" = $1`, [id, forged]);
    const refused = await client.api("POST", `/approvals/${id}/consume`, consumed);
    expect([refused.status, await refused.json()]).toMatchObject([409, { code: "integrity_failed" }]);
    await t.service.pool.query(`UPDATE "approval" SET "receipt" = $2 WHERE "id" = $1`, [id, receipt]);
    expect((await client.api("POST", `/approvals/${id}/consume`, consumed)).status).toBe(200);
  });

  it("is not accepted by the session's cookie alone, whatever the form says instead of a signature", async () => {
    const id = await mint();
    expect(await accept(id, "")).toEqual({ kind: "notice", notice: "passkey_missing" });
    expect(await decideAs(t.service, session, id, "accept", { hasRead: true })).toEqual({
      kind: "notice",
      notice: "passkey_missing",
    });
    const good = key.get(await questionFor(id));
    const { signature: _, ...unsigned } = good.response;
    for (const forged of ["{}", "null", "[]", "x", JSON.stringify({ ...good, response: unsigned }), "9".repeat(20_000)])
      await expectPending(id, await accept(id, forged));
  });

  it("is declined, closed and reported without a passkey", async () => {
    const [declined, closed, reported] = [await mint(), await mint(), await mint()];
    expect(await decideAs(t.service, session, declined, "decline")).toEqual({ kind: "decided" });
    expect(await decideAs(t.service, session, closed, "cancel")).toEqual({ kind: "decided" });
    const other = await addPerson(t.service, "Cleo");
    const theirs = await mint({}, other);
    const cleos = (await signIn(t.service, other)).session;
    expect(await decideAs(t.service, cleos, theirs, "not_requested")).toEqual({ kind: "decided" });
    expect((await rowOf(reported)).status).toBe("pending");
  });

  it("is not accepted twice by one answer, nor by an answer that failed once", async () => {
    const id = await mint();
    const once = answer(await questionFor(id), { flags: 0x01 });
    await expectPending(id, await accept(id, once));
    await expectPending(id, await accept(id, once));
    const challenge = await questionFor(id);
    await expectPending(id, await accept(id, answer(challenge, { origin: "https://evil.example" })));
    await expectPending(id, await accept(id, answer(challenge)));
  });

  it("is not accepted by an answer for another approval, session, view or kind of question", async () => {
    const [id, other] = [await mint(), await mint()];
    await expectPending(id, await accept(id, answer(await questionFor(other))));
    const elsewhere = (await signIn(t.service, ada)).session;
    await expectPending(id, await accept(id, answer(await questionFor(id, elsewhere))));
    const inJapanese = await formFor(t.service, session, id, "accept", {}, "ja");
    const asked = await askPasskey(t.service, session, id, inJapanese);
    if (asked.kind !== "question") throw new Error(asked.kind);
    await expectPending(id, await accept(id, answer(asked.question.challenge)));
    const taken = await questionFor(id);
    await t.service.pool.query(
      `UPDATE "passkey_challenge" SET "purpose" = 'register', "approval_id" = NULL, "nonce" = NULL WHERE "challenge" = $1`,
      [taken],
    );
    await expectPending(id, await accept(id, answer(taken)));
  });

  it("is not accepted by an answer that the browser or authenticator gave elsewhere or without the person", async () => {
    const id = await mint();
    const wrong: GetOverrides[] = [
      { origin: "https://evil.example" },
      { origin: `${t.service.config.url}.evil.example` },
      { rpId: "evil.example" },
      { type: "webauthn.create" },
      { flags: 0x01 },
      { flags: 0x04 },
      { clientData: { crossOrigin: true } },
      { clientData: { crossOrigin: true, topOrigin: "https://evil.example" } },
      { clientData: { challenge: Buffer.alloc(32).toString("base64url") } },
      { userHandle: Buffer.from("somebody else").toString("base64url") },
    ];
    for (const overrides of wrong) await expectPending(id, await accept(id, answer(await questionFor(id), overrides)));
    expect(await accept(id, answer(await questionFor(id)))).toEqual({ kind: "decided" });
  });

  it("counts no passkey of somebody else, nor one without our mac (I17)", async () => {
    const id = await mint();
    const bob = await addPerson(t.service, "Bob");
    const bobs = await addPasskey(t.service, bob);
    await expectPending(id, await accept(id, answer(await questionFor(id), {}, bobs)));
    await t.service.pool.query(
      `UPDATE "passkey" SET "user_id" = $2, "iss" = $3, "sub" = $4 WHERE "credential_id" = $1`,
      [bobs.credentialId, ada.userId, ada.iss, ada.sub],
    );
    await expectPending(id, await accept(id, answer(await questionFor(id), {}, bobs)));
  });

  it("counts no passkey that was registered after the request, or in the seconds by which clocks may differ", async () => {
    const dan = await addPerson(t.service, "Dan");
    const dans = (await signIn(t.service, dan)).session;
    const id = await mint({}, dan);
    const { rows } = await t.service.pool.query<{ at: Date }>(
      `SELECT "created_at" AS "at" FROM "approval" WHERE "id" = $1`,
      [id],
    );
    const late = await addPasskey(t.service, dan, { createdAt: new Date((rows[0]?.at.getTime() ?? 0) - 5_000) });
    const form = await formFor(t.service, dans, id, "accept");
    expect(await askPasskey(t.service, dans, id, form)).toEqual({ kind: "no_passkey" });
    const older = await addPasskey(t.service, dan, { createdAt: new Date((rows[0]?.at.getTime() ?? 0) - 5_001) });
    await expectPending(id, await accept(id, answer(await questionFor(id, dans), {}, late), dans));
    expect(await accept(id, answer(await questionFor(id, dans), {}, older), dans)).toEqual({ kind: "decided" });
  });

  it("asks nothing of, and for, a person whose request it is not, and gives no question without the form's token", async () => {
    const id = await mint();
    const eve = await addPerson(t.service, "Eve");
    const eves = (await signIn(t.service, eve)).session;
    const form = await formFor(t.service, session, id, "accept");
    expect(await askPasskey(t.service, eves, id, form)).toEqual({ kind: "forbidden" });
    expect(await askPasskey(t.service, session, id, { ...form, csrf: "" })).toEqual({ kind: "forbidden" });
    expect(await askPasskey(t.service, session, id, { ...form, stamp: "" })).toEqual({ kind: "view_changed" });
  });

  it("an answer after 120 seconds, after the deadline, or with a sign-in one second too old decides nothing (I6)", async () => {
    const id = await mint();
    const slow = await questionFor(id);
    await t.service.pool.query(`UPDATE "passkey_challenge" SET "expires_at" = now() WHERE "challenge" = $1`, [slow]);
    await expectPending(id, await accept(id, answer(slow)));
    const challenge = await questionFor(id);
    const form = await formFor(t.service, session, id, "accept", { passkeyAnswer: answer(challenge) });
    const stale = { ...session, authTime: Math.floor(Date.now() / 1000) - 901 };
    expect(await decide(t.service, stale, id, form)).toEqual({ kind: "step_up" });
    await expireIn(t.service, id, 0);
    expect(await decide(t.service, session, id, form)).toEqual({ kind: "already_decided" });
  });

  it("a wrong code is counted and leaves the passkey's answer for the right one", async () => {
    count += 1;
    const action = { tool: "delete_project", arguments: { project_id: `p_${count}` } };
    const minted = await mintApproval(client, ada, { action, requirements: { passkey: "required", matchCode: true } });
    const passkeyAnswer = answer(await questionFor(minted.id));
    const wrong = minted.matchCode === "10" ? "11" : "10";
    const tried = (code: string) => decideAs(t.service, session, minted.id, "accept", { passkeyAnswer, code });
    expect(await tried(wrong)).toEqual({ kind: "notice", notice: "code_wrong" });
    expect(await tried(minted.matchCode ?? "")).toEqual({ kind: "decided" });
  });

  it("is accepted by the one answer also where another tab's wrong code was written first, and the decision is tried anew (I14)", async () => {
    count += 1;
    const action = { tool: "delete_project", arguments: { project_id: `p_${count}` } };
    const requirements = { passkey: "required", matchCode: true };
    const { id, matchCode: code = "" } = await mintApproval(client, ada, { action, requirements });
    const passkeyAnswer = answer(await questionFor(id));
    const form = await formFor(t.service, session, id, "accept", { code, passkeyAnswer });
    const holder = await t.service.pool.connect();
    await holder.query("BEGIN");
    await holder.query(
      `UPDATE "approval" SET "match_tries" = "match_tries" + 1, "version" = "version" + 1 WHERE "id" = $1`,
      [id],
    );
    const decided = decide(t.service, session, id, form);
    await untilWaiting();
    await holder.query("COMMIT");
    holder.release();
    expect(await decided).toEqual({ kind: "decided" });
    expect((await rowOf(id)).status).toBe("accepted");
  });

  it("a failed passkey is told to auditors once an hour, with no part of the answer", async () => {
    const id = await mint();
    for (let i = 0; i < 3; i += 1) await accept(id, answer(await questionFor(id), { flags: 0 }));
    const events = await t.service.prisma.auditEvent.findMany({
      where: { approvalId: id, type: "security.passkey_failed" },
    });
    expect(events).toMatchObject([{ actor: { kind: "person", userId: ada.userId }, data: { fault: "bad_assertion" } }]);
  });

  for (const [what, act] of Object.entries(between))
    it(`is not accepted by a form that waits for the row while ${what}`, async () => {
      const fay = await addPerson(t.service, "Fay");
      const fays = (await signIn(t.service, fay)).session;
      const hers = await addPasskey(t.service, fay);
      const id = await mint({}, fay);
      const passkeyAnswer = answer(await questionFor(id, fays), {}, hers);
      const form = await formFor(t.service, fays, id, "accept", { passkeyAnswer });
      const holder = await t.service.pool.connect();
      await holder.query("BEGIN");
      await holder.query(`SELECT 1 FROM "approval" WHERE "id" = $1 FOR UPDATE`, [id]);
      const decided = decide(t.service, fays, id, form);
      await untilWaiting();
      await act(fay, hers);
      await holder.query("COMMIT");
      holder.release();
      expect((await decided).kind).not.toBe("decided");
      expect((await rowOf(id)).status).toBe("pending");
    });

  it("is not accepted by an admin's link that is taken away while the form waits for the row (I2)", async () => {
    const fay = await addPerson(t.service, "Fay");
    const fays = (await signIn(t.service, fay)).session;
    const hers = await addPasskey(t.service, fay);
    const link = { user: fay.userId, iss: "https://as.example.com", sub: `fay-${fay.userId}` };
    await linkIdentity(t.service, link, admin);
    const asking = await addTestClient(t.service, { issuers: [link.iss] });
    const { id } = await mintApproval(asking, link, passkeyOnly);
    const passkeyAnswer = answer(await questionFor(id, fays), {}, hers);
    const form = await formFor(t.service, fays, id, "accept", { passkeyAnswer });
    const holder = await t.service.pool.connect();
    await holder.query("BEGIN");
    await holder.query(`SELECT 1 FROM "approval" WHERE "id" = $1 FOR UPDATE`, [id]);
    const decided = decide(t.service, fays, id, form);
    await untilWaiting();
    await unlinkIdentity(t.service, link, admin);
    await holder.query("COMMIT");
    holder.release();
    expect(await decided).toEqual({ kind: "missing" });
    expect((await rowOf(id)).status).toBe("pending");
  });

  it("is not accepted by a form that waits for the row until the sign-in is too old (I6)", async () => {
    const fay = await addPerson(t.service, "Fay");
    const key = await addPasskey(t.service, fay);
    const fresh = (await signIn(t.service, fay)).session;
    const id = await mint({}, fay);
    const { rows } = await t.service.pool.query<{ now: Date }>("SELECT clock_timestamp() AS now");
    const nearly = { ...fresh, authTime: Math.floor((rows[0]?.now.getTime() ?? 0) / 1000) - 898 };
    const form = await formFor(t.service, nearly, id, "accept", {
      passkeyAnswer: answer(await questionFor(id, nearly), {}, key),
    });
    const holder = await t.service.pool.connect();
    await holder.query("BEGIN");
    await holder.query(`SELECT 1 FROM "approval" WHERE "id" = $1 FOR UPDATE`, [id]);
    const decided = decide(t.service, nearly, id, form);
    await untilWaiting();
    await holder.query("SELECT pg_sleep(3)");
    await holder.query("COMMIT");
    holder.release();
    expect(await decided).toEqual({ kind: "step_up" });
    expect((await rowOf(id)).status).toBe("pending");
  });

  it("is not accepted by a signature that a verifier of the receipt would refuse", async () => {
    const id = await mint();
    const loose = key.get(await questionFor(id));
    const der = Buffer.concat([Buffer.from(loose.response.signature, "base64url"), Buffer.from([0])]);
    loose.response.signature = der.toString("base64url");
    await expectPending(id, await accept(id, JSON.stringify(loose)));
  });

  it("counts no passkey of the same user's other identity", async () => {
    const id = await mint();
    const other = await addPasskey(t.service, { ...ada, iss: "https://idp.example", sub: "ada" });
    await expectPending(id, await accept(id, answer(await questionFor(id), {}, other)));
  });

  it("grants no consume on a passkey that the receipt dates after the request, though signed by the service", async () => {
    const body = mintBody(ada);
    const { id } = await mintApproval(client, ada, { ...passkeyOnly, action: body.action });
    await accept(id, answer(await questionFor(id)));
    const claims = JSON.parse(Buffer.from((await rowOf(id)).receipt.split(".")[1] ?? "", "base64url").toString());
    const late = { ...claims, passkey: { ...claims.passkey, created_at: claims.asked_at } };
    const forged = await signClaims(t.service.keys, "approval-receipt+jwt", late);
    await t.service.pool.query(`UPDATE "approval" SET "receipt" = $2 WHERE "id" = $1`, [id, forged]);
    const consumed = { caller: body.caller, action: body.action, consumerToken: "B".repeat(43) };
    expect((await client.api("POST", `/approvals/${id}/consume`, consumed)).status).toBe(409);
  });

  it("asks no question of a sign-in that is too old, and keeps no more than five open", async () => {
    const id = await mint();
    const stale = { ...session, authTime: Math.floor(Date.now() / 1000) - 901 };
    expect(await askPasskey(t.service, stale, id, await formFor(t.service, stale, id, "accept"))).toEqual({
      kind: "step_up",
    });
    for (let i = 0; i < 12; i += 1) await questionFor(id);
    const { rows } = await t.service.pool.query(`SELECT 1 FROM "passkey_challenge" WHERE "approval_id" = $1`, [id]);
    expect(rows).toHaveLength(5);
  });

  it("of two parallel accepts with one answer exactly one decides, and both say what is true (I4)", async () => {
    const id = await mint();
    const passkeyAnswer = answer(await questionFor(id));
    const results = await Promise.all([accept(id, passkeyAnswer), accept(id, passkeyAnswer)]);
    expect(results).toContainEqual({ kind: "decided" });
    expect((await rowOf(id)).status).toBe("accepted");
  });
});
