import { randomUUID } from "node:crypto";
import { verifyReceipt } from "@countersign/mcp/receipt";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decide } from "@/lib/approvals/decide";
import { readInbox } from "@/lib/approvals/inbox";
import { openForPerson } from "@/lib/approvals/open";
import { rightToDecide, subjectsToDecideFor } from "@/lib/approvals/subject";
import { listIdentities } from "@/lib/users/identities";
import { macOfIdentity } from "@/lib/users/identity";
import { linkIdentity } from "@/lib/users/link";
import { unlinkIdentity } from "@/lib/users/unlink";
import { addPerson, addTestClient, mintApproval, type Person, signIn, type TestClient } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs, formFor } from "@/test/support/deciding";
import { addPasskey } from "@/test/support/passkeys";

const cli = { kind: "admin", via: "cli" } as const;
const iss = "https://as.example.com";

let t: TestService;
let client: TestClient;
let ada: Person;
let eve: Person;
let adas: Awaited<ReturnType<typeof signIn>>;
let eves: Awaited<ReturnType<typeof signIn>>;

beforeAll(async () => {
  t = await createTestService();
  client = await addTestClient(t.service, {
    issuers: [iss, t.service.issuer],
    maxPendingPerSubject: 100,
    maxMintsPerSubjectPerHour: 1_000,
  });
  ada = await addPerson(t.service, "Ada");
  eve = await addPerson(t.service, "Eve");
  adas = await signIn(t.service, ada);
  eves = await signIn(t.service, eve);
});
afterAll(() => t.stop());

const newSubject = () => ({ iss, sub: `sub-${randomUUID()}` });
const eventsAbout = async (sub: string) =>
  (
    await t.service.pool.query(
      `SELECT "type", "actor", "data" FROM "audit_event" WHERE "type" LIKE 'admin.identity%' AND "data" ->> 'sub' = $1 ORDER BY "seq"`,
      [sub],
    )
  ).rows;

/** Until this many statements of this database wait for a lock. */
async function untilWaiting(count: number): Promise<void> {
  const sql = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  while ((await t.service.pool.query(sql)).rows.length < count);
}

/** A row as another part of the service would write it, authentic. */
async function writeIdentity(row: { iss: string; sub: string; userId: string; mayApprove: boolean; linkedBy: string }) {
  await t.service.prisma.identity.create({ data: { ...row, mac: macOfIdentity(t.service.secrets, row) } });
}

describe("an identity that an admin has linked", () => {
  it("I2: is decided for by the user it is linked to; the receipt names both identities, and how", async () => {
    const subject = newSubject();
    await linkIdentity(t.service, { user: ada.email, ...subject }, cli);
    const { id } = await mintApproval(client, subject);
    expect(await decideAs(t.service, adas.session, id, "accept")).toEqual({ kind: "decided" });
    const { receipt = "" } = (await (await client.api("GET", `/approvals/${id}`)).json()) as { receipt?: string };
    const verdict = await verifyReceipt(receipt, {
      issuer: t.service.issuer,
      audience: client.clientId,
      approvalId: id,
      subject,
      keys: (kid) => t.service.keys.find(kid),
    });
    expect(verdict).toMatchObject({
      ok: true,
      claims: {
        sub_id: { format: "iss_sub", ...subject },
        authn: { iss: ada.iss, sub: ada.sub, via: "admin_link" },
        decision: "accept",
      },
    });
    const own = await mintApproval(client, ada);
    await decideAs(t.service, adas.session, own.id, "accept");
    const answer = (await (await client.api("GET", `/approvals/${own.id}`)).json()) as { receipt: string };
    const claims = JSON.parse(Buffer.from(answer.receipt.split(".")[1] ?? "", "base64url").toString());
    expect(claims.authn).toEqual({ iss: ada.iss, sub: ada.sub, via: "self" });
  });

  it("I2: unlinked, it is decided for by them no more, from that moment on: page, decision, inbox", async () => {
    const subject = newSubject();
    const link = { user: ada.email, ...subject };
    await linkIdentity(t.service, link, cli);
    const { id } = await mintApproval(client, subject);
    const form = await formFor(t.service, adas.session, id, "accept");
    const waiting = async () => (await readInbox(t.service, adas.session, "en")).pending.map((item) => item.id);
    expect(await waiting()).toContain(id);
    expect(await subjectsToDecideFor(t.service, adas.session)).toContainEqual(subject);
    expect(await unlinkIdentity(t.service, link, cli)).toMatchObject({ userId: ada.userId, changed: true });
    expect(await openForPerson(t.service, adas.session, id)).toBeUndefined();
    expect(await decide(t.service, adas.session, id, form)).toEqual({ kind: "missing" });
    expect(await waiting()).not.toContain(id);
    expect(await subjectsToDecideFor(t.service, adas.session)).not.toContainEqual(subject);
    expect(await unlinkIdentity(t.service, link, cli)).toMatchObject({ changed: false });
    const data = { userId: ada.userId, ...subject };
    expect(await eventsAbout(subject.sub)).toMatchObject([
      { type: "admin.identity_linked", actor: cli, data },
      { type: "admin.identity_unlinked", actor: cli, data: { ...data, linkedBy: "admin" } },
    ]);
  });

  it("I2, I8: taken away while a decision for it is being written, it goes after the decision, which stands whole", async () => {
    const subject = newSubject();
    const link = { user: ada.email, ...subject };
    await linkIdentity(t.service, link, cli);
    const { id } = await mintApproval(client, subject);
    const form = await formFor(t.service, adas.session, id, "accept");
    // The history is written last: a decision that waits there has judged the right, and holds it.
    const holder = await t.service.pool.connect();
    await holder.query(
      `CREATE FUNCTION "wait_for_history"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NEW; END $$;
       CREATE TRIGGER "wait_for_history" BEFORE INSERT ON "audit_event" FOR EACH ROW WHEN (NEW."type" = 'approval.accepted') EXECUTE FUNCTION "wait_for_history"();
       SELECT pg_advisory_lock(1)`,
    );
    const deciding = decide(t.service, adas.session, id, form);
    await untilWaiting(1);
    const ended: string[] = [];
    const unlinking = unlinkIdentity(t.service, link, cli).finally(() => ended.push("unlinked"));
    await Promise.race([untilWaiting(2), unlinking]);
    const endedFirst = [...ended];
    await holder.query("SELECT pg_advisory_unlock(1)");
    const results = [await deciding, (await unlinking).changed];
    await holder.query(`DROP TRIGGER "wait_for_history" ON "audit_event"; DROP FUNCTION "wait_for_history"()`);
    holder.release();
    expect([endedFirst, results]).toEqual([[], [{ kind: "decided" }, true]]);
    const { rows } = await t.service.pool.query<{ type: string }>(
      `SELECT "type" FROM "audit_event" WHERE "type" ~ '^(approval.accepted|admin.identity_unlinked)$'
         AND ("approval_id" = $1 OR "data" ->> 'sub' = $2) ORDER BY "seq"`,
      [id, subject.sub],
    );
    expect(rows.map(({ type }) => type)).toEqual(["approval.accepted", "admin.identity_unlinked"]);
    expect(await rightToDecide(t.service, adas.session, subject)).toBeUndefined();
  });

  it("I17: counts only as an admin's act wrote it: a row that was moved or changed gives nobody a right", async () => {
    const subject = newSubject();
    await linkIdentity(t.service, { user: ada.email, ...subject }, cli);
    const set = (column: string, value: unknown) =>
      t.service.pool.query(`UPDATE "identity" SET "${column}" = $2 WHERE "iss" = $3 AND "sub" = $1`, [
        subject.sub,
        value,
        iss,
      ]);
    await set("user_id", eve.userId);
    expect(await rightToDecide(t.service, eves.session, subject)).toBeUndefined();
    expect(await subjectsToDecideFor(t.service, eves.session)).not.toContainEqual(subject);
    expect(await listIdentities(t.service, eve.userId)).toContainEqual(
      expect.objectContaining({ ...subject, isAuthentic: false, isAdminLink: false }),
    );
    await set("user_id", ada.userId);
    expect(await rightToDecide(t.service, adas.session, subject)).toBe("admin_link");
    await t.service.pool.query(`UPDATE "identity" SET "sub" = "sub" || 'x' WHERE "sub" = $1`, [subject.sub]);
    const moved = { iss, sub: `${subject.sub}x` };
    expect(await rightToDecide(t.service, adas.session, moved)).toBeUndefined();
  });

  it("takes the passkeys and the sessions with it where it was signed in with, and leaves them where it was not", async () => {
    const person = await addPerson(t.service, "Keys");
    const subject = newSubject();
    const link = { user: person.userId, ...subject };
    await linkIdentity(t.service, link, cli);
    await addPasskey(t.service, person);
    await signIn(t.service, person);
    expect(await unlinkIdentity(t.service, link, cli)).toMatchObject({ endedSessions: 0, removedPasskeys: 0 });
    await linkIdentity(t.service, link, cli);
    await signIn(t.service, { ...person, ...subject });
    await addPasskey(t.service, { userId: person.userId, ...subject });
    expect(await unlinkIdentity(t.service, link, cli)).toMatchObject({ endedSessions: 2, removedPasskeys: 1 });
    const left = await t.service.prisma.passkey.findMany({ where: { userId: person.userId } });
    expect(left).toMatchObject([{ iss: person.iss, sub: person.sub }]);
  });
});

describe("an identity that the person has linked themself", () => {
  it("never decides from another one's session, whatever its row says, until an admin links it", async () => {
    for (const mayApprove of [false, true]) {
      const subject = newSubject();
      await writeIdentity({ ...subject, userId: ada.userId, mayApprove, linkedBy: "self_service" });
      expect(await rightToDecide(t.service, adas.session, subject)).toBeUndefined();
      const { id } = await mintApproval(client, subject);
      expect(await openForPerson(t.service, adas.session, id)).toBeUndefined();
      expect(await linkIdentity(t.service, { user: ada.email, ...subject }, cli)).toMatchObject({ changed: true });
      expect(await rightToDecide(t.service, adas.session, subject)).toBe("admin_link");
      expect((await openForPerson(t.service, adas.session, id))?.via).toBe("admin_link");
    }
  });

  it("decides in a session of its own", async () => {
    const subject = newSubject();
    await writeIdentity({ ...subject, userId: ada.userId, mayApprove: false, linkedBy: "self_service" });
    const { session } = await signIn(t.service, { ...ada, ...subject });
    expect(await rightToDecide(t.service, session, subject)).toBe("self");
    expect(await rightToDecide(t.service, session, ada)).toBeUndefined();
  });
});

describe("linking is refused, with nothing changed", () => {
  const refused = (reason: string) => ({ name: "Problem", code: "invalid_request", reason });

  it("to the admin who acts: nobody gives themself the right to decide in somebody's name", async () => {
    const admin = await addPerson(t.service, "Alan", ["admin"]);
    const actor = { kind: "admin", userId: admin.userId, via: "page" } as const;
    const subject = newSubject();
    for (const user of [admin.userId, admin.email])
      await expect(linkIdentity(t.service, { user, ...subject }, actor)).rejects.toMatchObject(refused("self"));
    expect(await eventsAbout(subject.sub)).toEqual([]);
    expect(await linkIdentity(t.service, { user: ada.email, ...subject }, actor)).toMatchObject({ changed: true });
    expect(await eventsAbout(subject.sub)).toMatchObject([{ actor }]);
  });

  it("for an identity of somebody else, one that the user signs in as, and one of this service", async () => {
    const taken = newSubject();
    await linkIdentity(t.service, { user: eve.email, ...taken }, cli);
    const signsIn = newSubject();
    await writeIdentity({ ...signsIn, userId: ada.userId, mayApprove: true, linkedBy: "sign_in" });
    for (const [reason, link] of [
      ["taken", taken],
      ["signs_in", signsIn],
      ["own_issuer", { iss: eve.iss, sub: eve.sub }],
      ["incomplete", { iss, sub: "" }],
      ["incomplete", { iss: "", sub: "x" }],
      ["incomplete", { iss, sub: "x".repeat(501) }],
      ["incomplete", { iss, sub: "nul\u0000" }],
    ] as const)
      await expect(linkIdentity(t.service, { user: ada.email, ...link }, cli)).rejects.toMatchObject(refused(reason));
    await expect(linkIdentity(t.service, { user: "usr_nobody", ...newSubject() }, cli)).rejects.toMatchObject({
      code: "not_found",
    });
    expect(await rightToDecide(t.service, adas.session, taken)).toBeUndefined();
  });

  it("and nobody loses the identity that they are: unlinking takes links alone, and of this user alone", async () => {
    const signsIn = newSubject();
    await writeIdentity({ ...signsIn, userId: eve.userId, mayApprove: true, linkedBy: "sign_in" });
    const others = newSubject();
    await linkIdentity(t.service, { user: eve.email, ...others }, cli);
    for (const [user, identity] of [
      [eve.email, { iss: eve.iss, sub: eve.sub }],
      [eve.email, signsIn],
      [ada.email, others],
    ] as const)
      await expect(unlinkIdentity(t.service, { user, ...identity }, cli)).rejects.toMatchObject({
        code: "invalid_request",
      });
    expect(await rightToDecide(t.service, eves.session, others)).toBe("admin_link");
  });

  it("I17: a row that nobody wrote with the secret blocks nobody for ever: it can be taken away, and the right one linked", async () => {
    const planted = newSubject();
    await writeIdentity({ ...planted, userId: eve.userId, mayApprove: true, linkedBy: "sign_in" });
    await t.service.pool.query(`UPDATE "identity" SET "mac" = '\\x00' WHERE "sub" = $1`, [planted.sub]);
    const link = { user: ada.email, ...planted };
    await expect(linkIdentity(t.service, link, cli)).rejects.toMatchObject(refused("taken"));
    expect(await unlinkIdentity(t.service, { ...link, user: eve.email }, cli)).toMatchObject({ changed: true });
    expect(await linkIdentity(t.service, link, cli)).toMatchObject({ changed: true });
    expect(await rightToDecide(t.service, adas.session, planted)).toBe("admin_link");
  });

  it("of two at once for two users one is linked", async () => {
    for (let round = 0; round < 5; round += 1) {
      const subject = newSubject();
      const results = await Promise.allSettled(
        [ada, eve].map(({ email }) => linkIdentity(t.service, { user: email, ...subject }, cli)),
      );
      expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      expect(await eventsAbout(subject.sub)).toHaveLength(1);
    }
  });
});
