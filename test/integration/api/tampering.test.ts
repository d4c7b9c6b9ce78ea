import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decide } from "@/lib/approvals/decide";
import { openForPerson } from "@/lib/approvals/open";
import { settleDue } from "@/lib/approvals/settle-due";
import { readApproval } from "@/lib/approvals/store";
import { transition } from "@/lib/approvals/transitions";
import { createSigningKey } from "@/lib/keys/create";
import { createKeyRing } from "@/lib/keys/key-ring";
import { signReceipt } from "@/lib/receipts/sign";
import { signRecord } from "@/lib/records/sign";
import { readSession } from "@/lib/sessions/read";
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

let t: TestService;
let client: TestClient;
let ada: Person;
let eve: Person;

beforeAll(async () => {
  t = await createTestService();
  client = await addTestClient(t.service, { maxMintsPerSubjectPerHour: 1_000, maxPendingPerSubject: 500 });
  ada = await addPerson(t.service);
  eve = await addPerson(t.service, "Eve");
});
afterAll(() => t.stop());

const sql = (text: string, values: unknown[] = []) => t.service.pool.query(text, values);

async function consume(id: string, person: Person = ada) {
  const response = await client.api("POST", `/approvals/${id}/consume`, {
    caller: mintBody(person).caller,
    action: mintBody(person).action,
    consumerToken: randomBytes(32).toString("base64url"),
  });
  return ((await response.json()) as { code?: string; granted?: boolean }).code ?? "granted";
}

const status = async (id: string) =>
  (await client.api("GET", `/approvals/${id}`)).json() as Promise<{ code?: string; next?: string }>;

const accepting = `"status" = 'accepted', "decision" = 'accept', "decided_at" = clock_timestamp(), "act_by" = clock_timestamp() + INTERVAL '5 minutes'`;

describe("somebody who can write the database but lacks the secret (I17)", () => {
  it("cannot make a half-accepted row at all: the states are checked by the database", async () => {
    const { id } = await mintApproval(client, ada);
    await expect(sql(`UPDATE "approval" SET "status" = 'accepted' WHERE "id" = $1`, [id])).rejects.toThrow(
      /approval_state/,
    );
  });

  it("cannot accept with an invented receipt, nor with that of another approval", async () => {
    const { session } = await signIn(t.service, ada);
    const accepted = await mintApproval(client, ada);
    await decideAs(t.service, session, accepted.id, "accept");
    const target = await mintApproval(client, ada);
    await sql(`UPDATE "approval" SET ${accepting}, "receipt" = 'e30.e30.AA' WHERE "id" = $1`, [target.id]);
    expect([await consume(target.id), (await status(target.id)).code]).toEqual([
      "integrity_failed",
      "integrity_failed",
    ]);
    await sql(`UPDATE "approval" SET "receipt" = (SELECT "receipt" FROM "approval" WHERE "id" = $2) WHERE "id" = $1`, [
      target.id,
      accepted.id,
    ]);
    expect([await consume(target.id), (await status(target.id)).code]).toEqual([
      "integrity_failed",
      "integrity_failed",
    ]);
    // With both of another approval's signed texts copied in, the id still does not fit.
    await sql(
      `UPDATE "approval" t SET "record" = s."record", "receipt" = s."receipt", "action_digest" = s."action_digest", "act_by" = s."act_by" FROM "approval" s WHERE t."id" = $1 AND s."id" = $2`,
      [target.id, accepted.id],
    );
    expect(await consume(target.id)).toBe("integrity_failed");
    expect(await consume(accepted.id)).toBe("granted");
    const refused = await sql(
      `SELECT "actor" FROM "audit_event" WHERE "approval_id" = $1 AND "type" = 'approval.receipt_refused'`,
      [target.id],
    );
    expect(refused.rows).toEqual([{ actor: { kind: "service" } }]);
  });

  it("cannot turn a decline into an accept", async () => {
    const { session } = await signIn(t.service, ada);
    const own = await addTestClient(t.service);
    const { id } = await mintApproval(own, ada);
    await decideAs(t.service, session, id, "decline");
    await sql(`UPDATE "approval" SET ${accepting}, "settled_at" = NULL WHERE "id" = $1`, [id]);
    const response = await own.api("POST", `/approvals/${id}/consume`, {
      caller: mintBody(ada).caller,
      action: mintBody(ada).action,
      consumerToken: "A".repeat(43),
    });
    expect(((await response.json()) as { code: string }).code).toBe("integrity_failed");
  });

  it("cannot sign with a key of their own: its row is not loaded, not published, and the service is not ready", async () => {
    const own = { kek: new Uint8Array(randomBytes(32)), row: new Uint8Array(randomBytes(32)) };
    const foreign = await createSigningKey(own, { publishFrom: new Date(0), activeFrom: new Date(0) });
    await t.service.prisma.signingKey.create({ data: { ...foreign, mac: new Uint8Array(foreign.mac) } });
    await t.service.keys.refresh();
    expect([
      t.service.keys.isHealthy(),
      t.service.keys.published().some((jwk) => jwk.kid === foreign.kid),
      await t.service.keys.find(foreign.kid),
    ]).toEqual([false, false, undefined]);
    // A receipt by that key, right in every claim.
    const { id } = await mintApproval(client, ada);
    const read = await readApproval(t.service.pool, id);
    if (!read) throw new Error("not stored");
    const step = transition(read.approval, { kind: "decide", decision: "accept" }, read.now);
    if (!step.ok || step.next.status !== "accepted") throw new Error("not accepted");
    const ring = createKeyRing({
      prisma: t.service.prisma,
      log: t.service.log,
      secrets: { ...t.service.secrets, ...own },
    });
    await ring.refresh();
    const receipt = await signReceipt({ keys: ring, issuer: t.service.issuer }, step.next, step.next.decidedAt);
    await sql(
      `UPDATE "approval" SET "status" = 'accepted', "decision" = 'accept', "decided_at" = $2, "act_by" = $3, "receipt" = $4 WHERE "id" = $1`,
      [id, step.next.decidedAt, step.next.actBy, receipt],
    );
    expect(await consume(id)).toBe("integrity_failed");
    await t.service.prisma.signingKey.delete({ where: { kid: foreign.kid } });
    await t.service.keys.refresh();
    expect(t.service.keys.isHealthy()).toBe(true);
  });

  it("cannot publish their public key under one of ours, nor move a key's instants", async () => {
    const [row] = await t.service.prisma.signingKey.findMany();
    if (!row) throw new Error("no key");
    const foreign = await createSigningKey(
      { kek: t.service.secrets.kek, row: new Uint8Array(32) },
      { publishFrom: row.publishFrom, activeFrom: row.activeFrom },
    );
    for (const change of [
      { publicJwk: foreign.publicJwk },
      { activeFrom: new Date(0) },
      { revokedAt: null, status: "retired", privateJwe: null },
    ]) {
      await t.service.prisma.signingKey.update({ where: { kid: row.kid }, data: change });
      await t.service.keys.refresh();
      expect([t.service.keys.isHealthy(), t.service.keys.published()]).toEqual([false, []]);
      await t.service.prisma.signingKey.update({ where: { kid: row.kid }, data: row });
    }
    await t.service.keys.refresh();
    expect(t.service.keys.isHealthy()).toBe(true);
  });

  it.each([
    ["a later deadline", `"expires_at" = "expires_at" + INTERVAL '1 hour'`],
    ["a longer window to run in", `"act_by_seconds" = 3600000`],
    ["another caller", `"caller_sub" = 'eve'`],
    ["another MCP client", `"caller_client_id" = 'evil'`],
    ["another subject", `"subject_sub" = 'eve'`],
    ["another tool", `"tool" = 'other'`],
    ["another digest", `"action_digest" = 'sha256:${"0".repeat(64)}'`],
    ["another policy", `"policy_version" = 99`],
    ["another moment of asking", `"created_at" = "created_at" - INTERVAL '1 hour'`],
  ])(
    "cannot have %s signed: no column that the record does not confirm reaches a decision, a receipt or a grant",
    async (_name, change) => {
      const { session } = await signIn(t.service, ada);
      const [before, after] = [await mintApproval(client, ada), await mintApproval(client, ada)];
      const form = await formFor(t.service, session, before.id, "accept");
      await sql(`UPDATE "approval" SET ${change} WHERE "id" = $1`, [before.id]);
      expect(await decide(t.service, session, before.id, form)).toEqual({ kind: "missing" });
      expect(await consume(before.id)).not.toBe("granted");
      const withdrawn = await client.api("POST", `/approvals/${before.id}/withdraw`, { reason: "aborted" });
      expect(((await withdrawn.json()) as { code?: string }).code).toMatch(/integrity_failed|tool_not_allowed/);
      await decideAs(t.service, session, after.id, "accept");
      await sql(`UPDATE "approval" SET ${change} WHERE "id" = $1`, [after.id]);
      expect(await consume(after.id)).not.toBe("granted");
    },
  );

  it("cannot keep a person from stopping a client: a row that cannot be verified is passed over, all others are withdrawn", async () => {
    const own = await addTestClient(t.service);
    const { session } = await signIn(t.service, ada);
    const [bad, accepted, good] = [
      await mintApproval(own, ada),
      await mintApproval(own, ada),
      await mintApproval(own, ada),
    ];
    await decideAs(t.service, session, accepted.id, "accept");
    await sql(`UPDATE "approval" SET "policy_version" = 99 WHERE "id" = $1`, [bad.id]);
    expect(await decideAs(t.service, session, good.id, "not_requested")).toEqual({ kind: "decided" });
    const { rows } = await sql(`SELECT "status" FROM "approval" WHERE "id" = ANY($1)`, [[accepted.id, good.id]]);
    expect(rows.map((row) => row.status).toSorted()).toEqual(["declined", "withdrawn"]);
  });

  it("cannot keep honest approvals from being settled, however many rows are spoilt", async () => {
    const own = await addTestClient(t.service, { maxMintsPerSubjectPerHour: 1_000, maxPendingPerSubject: 500 });
    const spoilt = await Promise.all(Array.from({ length: 205 }, async () => (await mintApproval(own, ada)).id));
    const honest = await mintApproval(own, ada);
    await sql(`UPDATE "approval" SET "expires_at" = clock_timestamp() - INTERVAL '1 hour' WHERE "id" = ANY($1)`, [
      spoilt,
    ]);
    await expireIn(t.service, honest.id, 0);
    for (let i = 0; i < 3; i += 1) await settleDue(t.service);
    const { rows } = await sql(`SELECT "status" FROM "approval" WHERE "id" = $1`, [honest.id]);
    expect(rows[0]?.status).toBe("expired");
  });

  it("cannot have a weaker approval reused: the mark of what it was minted for names the approval", async () => {
    const own = await addTestClient(t.service);
    const ask = async (matchCode: boolean) =>
      (await (
        await own.api("POST", "/approvals", mintBody(ada, { reuse: "live", requirements: { matchCode } }))
      ).json()) as { id: string; effectiveRequirements: { matchCode: boolean } };
    const strict = await ask(true);
    const weak = await ask(false);
    await sql(
      `UPDATE "approval" SET "reuse_tag" = (SELECT "reuse_tag" FROM "approval" WHERE "id" = $2) WHERE "id" = $1`,
      [weak.id, strict.id],
    );
    const again = await ask(true);
    expect([again.id === weak.id, again.effectiveRequirements.matchCode]).toEqual([false, true]);
  });

  it("cannot make an approval somebody else's: a row that names another subject than the signed record is nobody's", async () => {
    const { id } = await mintApproval(client, ada);
    await sql(
      `UPDATE "approval" SET "subject_iss" = $2, "subject_sub" = $3, "caller_iss" = $2, "caller_sub" = $3 WHERE "id" = $1`,
      [id, eve.iss, eve.sub],
    );
    expect(await openForPerson(t.service, (await signIn(t.service, eve)).session, id)).toBeUndefined();
    expect(await openForPerson(t.service, (await signIn(t.service, ada)).session, id)).toBeUndefined();
  });

  it("cannot show another action: a changed record is shown to nobody and consumed by nobody", async () => {
    const { session } = await signIn(t.service, ada);
    const [mild, target] = [
      await mintApproval(client, ada, { action: { tool: "delete_project", arguments: { project_id: "harmless" } } }),
      await mintApproval(client, ada),
    ];
    await sql(`UPDATE "approval" SET "record" = (SELECT "record" FROM "approval" WHERE "id" = $2) WHERE "id" = $1`, [
      target.id,
      mild.id,
    ]);
    expect(await openForPerson(t.service, session, target.id)).toBeUndefined();
    const other = await createTestService();
    const forged = await signRecord(
      other.service.keys,
      JSON.parse(Buffer.from(String(mild.record).split(".")[1] ?? "", "base64url").toString()),
    );
    await sql(`UPDATE "approval" SET "record" = $2 WHERE "id" = $1`, [mild.id, forged]);
    expect(await openForPerson(t.service, session, mild.id)).toBeUndefined();
    await other.stop();
  });

  it("cannot become somebody by editing a session row: it can only end a session", async () => {
    const { cookie, session } = await signIn(t.service, ada);
    const asEve = await signIn(t.service, eve);
    await sql(`UPDATE "session" SET "user_id" = $2 WHERE "sid" = $1`, [asEve.session.sid, ada.userId]);
    expect(await readSession(t.service, new Headers({ cookie: asEve.cookie }))).toBeUndefined();
    await sql(`UPDATE "session" SET "revoked_at" = clock_timestamp() WHERE "sid" = $1`, [session.sid]);
    expect(await readSession(t.service, new Headers({ cookie }))).toBeUndefined();
  });

  it("cannot link a person to themselves: a link without the secret's mark approves nothing", async () => {
    const foreign = { iss: "https://as.example.com", sub: "user_456" };
    const own = await addTestClient(t.service, { issuers: [foreign.iss] });
    const { id } = await mintApproval(own, foreign);
    await t.service.prisma.identity.create({
      data: { ...foreign, userId: eve.userId, mayApprove: true, linkedBy: "admin", mac: new Uint8Array(32) },
    });
    expect(await openForPerson(t.service, (await signIn(t.service, eve)).session, id)).toBeUndefined();
  });

  it("cannot rewrite history: audit events are append-only", async () => {
    await mintApproval(client, ada);
    await expect(sql(`UPDATE "audit_event" SET "type" = 'x'`)).rejects.toThrow(/append-only/);
    await expect(sql(`DELETE FROM "audit_event"`)).rejects.toThrow(/append-only/);
    await expect(sql(`TRUNCATE "audit_event"`)).rejects.toThrow(/append-only/);
  });
});
