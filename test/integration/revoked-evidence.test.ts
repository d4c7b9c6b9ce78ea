import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eraseSettled } from "@/lib/approvals/erase-settled";
import { lookUpForPerson, openForPerson } from "@/lib/approvals/open";
import { readApproval } from "@/lib/approvals/store";
import { createSigningKey } from "@/lib/keys/create";
import { kidOf } from "@/lib/keys/kid-of";
import { revokeSigningKey } from "@/lib/keys/revoke";
import { signClaims } from "@/lib/keys/sign-claims";
import { insertSigningKey } from "@/lib/keys/store";
import { checkStoredReceipt } from "@/lib/receipts/check";
import { rfc3339 } from "@/lib/receipts/sign";
import type { PersonSession } from "@/lib/sessions/session";
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

const actor = { kind: "admin", via: "cli" } as const;

let t: TestService;
let client: TestClient;
let ada: Person;
let session: PersonSession;

beforeEach(async () => {
  t = await createTestService();
  client = await addTestClient(t.service, { maxPendingPerSubject: 100, declineCooldownSeconds: 0 });
  ada = await addPerson(t.service);
  ({ session } = await signIn(t.service, ada));
});
afterEach(() => t.stop());

const sql = (text: string, values: unknown[] = []) => t.service.pool.query(text, values);
const revoke = () => revokeSigningKey(t.service, { kid: t.service.keys.signer().kid }, actor);
const poll = async (id: string, query = "") => (await client.api("GET", `/approvals/${id}${query}`)).json();
const alarms = async (id: string) =>
  (await sql(`SELECT 1 FROM "audit_event" WHERE "type" = 'approval.receipt_refused' AND "approval_id" = $1`, [id]))
    .rowCount;

const keyRevoked = {
  code: "integrity_failed",
  status: 409,
  detail: expect.stringContaining("The key that signed this was revoked"),
};

const newToken = () => randomBytes(32).toString("base64url");

async function consume(id: string, consumerToken: string) {
  const { caller, action } = mintBody(ada);
  return (await client.api("POST", `/approvals/${id}/consume`, { caller, action, consumerToken })).json();
}

async function minted(): Promise<string> {
  return (await mintApproval(client, ada)).id;
}

async function consumed(id: string): Promise<{ id: string; token: string }> {
  const token = newToken();
  await decideAs(t.service, session, id, "accept");
  expect(await consume(id, token)).toMatchObject({ granted: true });
  return { id, token };
}

/** A key that signs from now on, beside the one that did. */
async function addSigner(): Promise<void> {
  const from = new Date(Date.now() - 1);
  await insertSigningKey(
    t.service.pool,
    await createSigningKey(t.service.secrets, { publishFrom: from, activeFrom: from }),
  );
  await t.service.keys.refresh();
}

const claimsOf = (jws: string) => JSON.parse(Buffer.from(jws.split(".")[1] ?? "", "base64url").toString()) as object;

async function stored(id: string) {
  const approval = (await readApproval(t.service.pool, id))?.approval;
  if (!approval || approval.status === "pending") throw new Error("not settled");
  return approval;
}

/** What was signed by a key that was revoked since, without another fault: refused, and nobody has tampered. */
async function expectNoAlarm(id: string): Promise<void> {
  expect(await poll(id)).toMatchObject(keyRevoked);
  expect(await poll(id, "?wait=1")).toMatchObject(keyRevoked);
  expect(await alarms(id)).toBe(0);
  const others = (await signIn(t.service, await addPerson(t.service, "Eve"))).session;
  expect(await lookUpForPerson(t.service, session, id)).toEqual({ kind: "key_revoked" });
  expect(await lookUpForPerson(t.service, others, id)).toEqual({ kind: "missing" });
  // Nothing can be done with it: whatever acts on an approval finds none.
  expect(await openForPerson(t.service, session, id)).toBeUndefined();
}

async function expectAlarm(id: string): Promise<void> {
  const answer = await poll(id);
  expect(answer).toMatchObject({ code: "integrity_failed" });
  expect(answer).not.toHaveProperty("detail");
  expect(await alarms(id)).toBe(1);
  expect(await lookUpForPerson(t.service, session, id)).toEqual({ kind: "missing" });
}

describe("what a key signed that was revoked since", () => {
  it("I13: is refused with a reason of its own, and is no tampering, however the approval ended", async () => {
    const { id, token } = await consumed(await minted());
    const others = [];
    for (const choice of ["decline", "cancel"] as const) {
      const other = await minted();
      await decideAs(t.service, session, other, choice);
      others.push(other);
    }
    const withdrawn = await minted();
    await client.api("POST", `/approvals/${withdrawn}/withdraw`, { reason: "aborted" });
    await revoke();
    for (const each of [id, ...others, withdrawn]) await expectNoAlarm(each);
    expect(await consume(id, token)).toMatchObject(keyRevoked);
    expect(await alarms(id)).toBe(0);
  });

  it("is none either where the record was erased, as it is some time after the end", async () => {
    const id = await minted();
    await decideAs(t.service, session, id, "decline");
    await revoke();
    expect(await eraseSettled({ ...t.service, config: { ...t.service.config, retainArgumentsSeconds: 0 } })).toBe(1);
    await expectNoAlarm(id);
  });

  it("is refused where only the record is by it: an acceptance rests on both, whether it ran or is to run", async () => {
    const [first, second] = [await minted(), await minted()];
    const { kid } = t.service.keys.signer();
    await addSigner();
    const { id, token } = await consumed(first);
    await decideAs(t.service, session, second, "accept");
    await sql(`CREATE TABLE "kept" AS SELECT * FROM "approval" WHERE "id" = '${second}'`);
    await revokeSigningKey(t.service, { kid }, actor);
    // Somebody writes the acceptance back that the revocation has withdrawn.
    await sql(
      `UPDATE "approval" a SET "status" = k."status", "decision" = k."decision", "decided_at" = k."decided_at", "act_by" = k."act_by",
         "reason" = NULL, "settled_at" = NULL, "receipt" = k."receipt" FROM "kept" k WHERE a."id" = k."id"`,
    );
    for (const each of [id, second]) {
      expect(await poll(each)).toMatchObject(keyRevoked);
      expect(await consume(each, each === id ? token : newToken())).toMatchObject(keyRevoked);
      expect(await alarms(each)).toBe(0);
    }
    // The person still learns how it ended: the receipt is by a key that holds.
    expect(await openForPerson(t.service, session, id)).toMatchObject({ approval: { id }, record: undefined });
  });

  it("does not take the word for another end away that a key that holds has signed", async () => {
    const id = await minted();
    await revoke();
    expect(await poll(id)).toMatchObject({ status: "withdrawn", reason: "key_revoked", next: "stop" });
  });
});

describe("somebody who can write the database but lacks the secret (I17) cannot hide behind a revoked key", () => {
  async function settledByRevoked(): Promise<string> {
    const { id } = await consumed(await minted());
    await revoke();
    return id;
  }

  it.each([
    ["a spoilt receipt", `"receipt" = left("receipt", -4) || 'AAAA'`],
    ["a spoilt record", `"record" = left("record", -4) || 'AAAA'`],
    [
      "another end",
      `"status" = 'cancelled', "decision" = 'cancel', "act_by" = NULL, "consumed_at" = NULL, "consumer_hash" = NULL, "settled_at" = clock_timestamp()`,
    ],
    ["a longer window to run in", `"act_by" = "act_by" + INTERVAL '1 hour'`],
    ["another caller", `"caller_sub" = 'eve'`],
    ["another subject", `"subject_sub" = 'eve'`],
    ["another policy", `"policy_version" = 99`],
    ["another moment of asking", `"created_at" = "created_at" - INTERVAL '1 hour'`],
  ])("%s is told apart, and reported", async (_name, change) => {
    const id = await settledByRevoked();
    await sql(`UPDATE "approval" SET ${change} WHERE "id" = $1`, [id]);
    await expectAlarm(id);
  });

  it("another reason for the end is, too", async () => {
    const id = await minted();
    await decideAs(t.service, session, id, "decline");
    await revoke();
    await sql(`UPDATE "approval" SET "reason" = 'not_requested' WHERE "id" = $1`, [id]);
    await expectAlarm(id);
  });

  it("a receipt by a key of their own that names the revoked one is, too", async () => {
    const id = await settledByRevoked();
    const { receipt } = await stored(id);
    const other = await createTestService();
    const { privateKey } = other.service.keys.signer();
    const keys = { ...other.service.keys, signer: () => ({ kid: kidOf(receipt) ?? "", privateKey }) };
    const forged = await signClaims(keys, "approval-receipt+jwt", claimsOf(receipt));
    await other.stop();
    await sql(`UPDATE "approval" SET "receipt" = $2 WHERE "id" = $1`, [id, forged]);
    await expectAlarm(id);
  });

  it("so is what rests on a key that their own row calls revoked", async () => {
    const { id } = await consumed(await minted());
    const { kid } = t.service.keys.signer();
    await sql(
      `UPDATE "signing_key" SET "status" = 'revoked', "private_jwe" = NULL, "revoked_at" = clock_timestamp() WHERE "kid" = $1`,
      [kid],
    );
    await expectAlarm(id);
  });

  it("and on a key of theirs, with the receipt it made, in a row that calls it revoked", async () => {
    const { id } = await consumed(await minted());
    const other = await createTestService();
    const { kid } = other.service.keys.signer();
    const row = await other.service.prisma.signingKey.findUniqueOrThrow({ where: { kid } });
    const { receipt } = await stored(id);
    const forged = await signClaims(other.service.keys, "approval-receipt+jwt", claimsOf(receipt));
    await other.stop();
    await insertSigningKey(t.service.pool, { ...row, status: "revoked", privateJwe: null, revokedAt: new Date() });
    await sql(`UPDATE "approval" SET "receipt" = $2 WHERE "id" = $1`, [id, forged]);
    await expectAlarm(id);
  });
});

describe("a stored receipt", () => {
  it("I12: that allows a longer window than the record is reported, by whichever key that holds: no key was revoked", async () => {
    const id = await minted();
    await decideAs(t.service, session, id, "accept");
    const approval = await stored(id);
    if (approval.status !== "accepted") throw new Error("not accepted");
    const later = new Date(approval.actBy.getTime() + 3_600_000);
    const forged = await signClaims(t.service.keys, "approval-receipt+jwt", {
      ...claimsOf(approval.receipt),
      act_by: rfc3339(later),
    });
    await sql(`UPDATE "approval" SET "receipt" = $2, "act_by" = $3 WHERE "id" = $1`, [id, forged, later]);
    const answer = await consume(id, newToken());
    expect(answer).toMatchObject({ code: "integrity_failed" });
    expect(answer).not.toHaveProperty("detail");
    expect(await alarms(id)).toBe(1);
  });

  it.each([
    ["cancelled", `"status" = 'cancelled', "decision" = 'cancel'`],
    ["expired", `"status" = 'expired', "decision" = NULL, "decided_at" = NULL`],
    ["withdrawn", `"status" = 'withdrawn', "decision" = NULL, "decided_at" = NULL, "reason" = 'aborted'`],
  ])("I17: of a decline does not say that it was %s, whatever the row says", async (status, change) => {
    const id = await minted();
    await decideAs(t.service, session, id, "decline");
    expect(await checkStoredReceipt(t.service, await stored(id))).toMatchObject({ status: "declined" });
    await sql(`UPDATE "approval" SET ${change} WHERE "id" = $1`, [id]);
    const approval = await stored(id);
    expect(approval.status).toBe(status);
    expect(await checkStoredReceipt(t.service, approval)).toBeUndefined();
    await expectAlarm(id);
  });
});
