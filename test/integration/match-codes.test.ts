import { verifyReceipt } from "@countersign/mcp/receipt";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decide } from "@/lib/approvals/decide";
import { readApproval } from "@/lib/approvals/store";
import {
  addPerson,
  addTestClient,
  mintApproval,
  mintBody,
  type Person,
  signIn,
  type TestClient,
} from "@/test/support/actors";
import { codeOf, consumeCode } from "@/test/support/codes";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs, formFor } from "@/test/support/deciding";

let t: TestService;
let clients: TestClient[];
let ada: Person;
let adas: Awaited<ReturnType<typeof signIn>>;

beforeAll(async () => {
  t = await createTestService();
  const limits = { maxPendingPerSubject: 1_000, maxMintsPerSubjectPerHour: 100_000 };
  clients = await Promise.all([1, 2, 3].map(() => addTestClient(t.service, limits)));
  ada = await addPerson(t.service, "Ada");
  adas = await signIn(t.service, ada);
});
afterAll(() => t.stop());

const withCode = { requirements: { matchCode: true } };
let count = 0;
const clientFor = (i: number) => {
  const client = clients[i % clients.length];
  if (!client) throw new Error("no client");
  return client;
};
/** Asks this person with a code, for an action of its own, through one client after the other. */
const mintCoded = (person: Person) => {
  count += 1;
  const action = { tool: "coded", arguments: { n: count } };
  return mintApproval(clientFor(count), person, { ...withCode, action }).then(({ matchCode = "", ...rest }) => ({
    ...rest,
    matchCode,
  }));
};
const rowOf = async (id: string) => {
  const read = await readApproval(t.service.pool, id);
  if (!read) throw new Error("the approval is not there");
  return read.approval;
};
/** Another code than this one. */
const wrong = (code: string, by = 1) => String(10 + ((Number(code) - 10 + by) % 90));
const eventsOf = async (id: string) =>
  (
    await t.service.pool.query<{ type: string; reason: string | null; actor: Record<string, string> }>(
      `SELECT "type", "reason", "actor" FROM "audit_event" WHERE "approval_id" = $1 ORDER BY "seq"`,
      [id],
    )
  ).rows;
const guess = (id: string, code: string, session = adas.session) =>
  decideAs(t.service, session, id, "accept", { code });

describe("the codes that wait for one person", () => {
  it("are all different, over every client, also where they are asked for at the same moment", async () => {
    const person = await addPerson(t.service, "Sixty");
    const codes = await Promise.all(Array.from({ length: 20 }, () => mintCoded(person)));
    for (let i = 0; i < 40; i += 1) codes.push(await mintCoded(person));
    expect(new Set(codes.map(({ matchCode }) => matchCode)).size).toBe(60);
    for (const { matchCode } of codes) expect(matchCode).toMatch(/^[1-9]\d$/);
  });

  it("may be equal for two people, and are free again once their approval has ended", async () => {
    const [person, other] = [await addPerson(t.service, "Full"), await addPerson(t.service, "Other")];
    const pending = new Map<string, string>();
    // Near the end a free code may not be found within the tries of one request.
    while (pending.size < 90) {
      const minted = await mintCoded(person).catch((error: Error) => {
        expect(error.message).toContain("too_many_pending");
        return undefined;
      });
      if (minted) pending.set(minted.matchCode, minted.id);
    }
    const body = mintBody(person, { ...withCode, action: { tool: "one_more", arguments: {} } });
    const refused = await clientFor(0).api("POST", "/approvals", body);
    expect(refused.headers.get("retry-after")).toBe("30");
    expect(await codeOf(refused)).toEqual([429, "too_many_pending"]);
    expect((await mintCoded(other)).status).toBe("pending");
    // One that shows no code needs none.
    expect((await mintApproval(clientFor(0), person)).matchCode).toBeUndefined();
    const { session } = await signIn(t.service, person);
    for (const code of ["10", "47", "99"]) await decideAs(t.service, session, pending.get(code) ?? "", "cancel");
    expect(["10", "47", "99"]).toContain((await mintCoded(person)).matchCode);
  });

  it("stay different where a live request is replaced: one of the two waits at every moment, never none", async () => {
    const person = await addPerson(t.service, "Replaced");
    await Promise.all(Array.from({ length: 80 }, () => mintCoded(person)));
    for (let i = 0; i < 10; i += 1) {
      const presentation = { title: `Delete project Apollo, take ${i}` };
      const { id } = await mintApproval(clientFor(0), person, { ...withCode, reuse: "live", presentation });
      const waiting = { subjectSub: person.sub, status: "pending", tool: "delete_project" };
      expect(await t.service.prisma.approval.findMany({ where: waiting, select: { id: true } })).toEqual([{ id }]);
    }
  });
});

describe("the code", () => {
  it("is asked for to approve, and for nothing else", async () => {
    for (const choice of ["decline", "cancel", "not_requested"] as const) {
      const own = await addTestClient(t.service);
      const { id } = await mintApproval(own, ada, withCode);
      expect(await decideAs(t.service, adas.session, id, choice, { code: "" })).toEqual({ kind: "decided" });
    }
    const { id, matchCode } = await mintCoded(ada);
    expect(await guess(id, "")).toEqual({ kind: "notice", notice: "code_missing" });
    expect(await rowOf(id)).toMatchObject({ status: "pending", matchTries: 0 });
    expect(await guess(id, matchCode)).toEqual({ kind: "decided" });
    expect(await rowOf(id)).toMatchObject({ status: "accepted" });
  });

  it("three wrong ones withdraw the approval: a security event names the person, and the receipt says why", async () => {
    const { id, matchCode } = await mintCoded(ada);
    const { clientId } = await rowOf(id);
    for (const by of [1, 2])
      expect(await guess(id, wrong(matchCode, by))).toEqual({ kind: "notice", notice: "code_wrong" });
    expect(await rowOf(id)).toMatchObject({ status: "pending", matchTries: 2 });
    // The third, from another device of the same person.
    const phone = await signIn(t.service, ada);
    await guess(id, wrong(matchCode, 3), phone.session);
    const row = await rowOf(id);
    expect(row).toMatchObject({ status: "withdrawn", reason: "match_failed", matchTries: 3 });
    expect(await eventsOf(id)).toMatchObject([
      { type: "approval.minted" },
      { type: "approval.withdrawn", reason: "match_failed", actor: { kind: "service" } },
      { type: "security.match_failed", actor: { kind: "person", iss: ada.iss, sub: ada.sub, userId: ada.userId } },
    ]);
    const verdict = await verifyReceipt("receipt" in row ? row.receipt : "", {
      issuer: t.service.issuer,
      audience: clientId,
      approvalId: id,
      keys: (kid) => t.service.keys.find(kid),
    });
    expect(verdict).toMatchObject({ ok: true, claims: { status: "withdrawn", reason: "match_failed" } });
  });

  it("a fourth try, wrong or right, changes nothing, and what was withdrawn does not run", async () => {
    const { id, matchCode } = await mintCoded(ada);
    const forms = [wrong(matchCode), matchCode].map((code) => formFor(t.service, adas.session, id, "accept", { code }));
    const late = await Promise.all(forms);
    for (const by of [1, 2, 3]) await guess(id, wrong(matchCode, by));
    const [before, events] = [await rowOf(id), await eventsOf(id)];
    for (const form of late)
      expect(await decide(t.service, adas.session, id, form)).toEqual({ kind: "already_decided" });
    expect([await rowOf(id), await eventsOf(id)]).toEqual([before, events]);
    const client = clients.find(({ clientId }) => clientId === before.clientId);
    if (!client) throw new Error("no client");
    expect(await consumeCode(client, ada, id)).toEqual([409, "not_accepted"]);
  });

  it("I2: wrong tries of somebody else count nothing, and tell nothing", async () => {
    const { id, matchCode } = await mintCoded(ada);
    const eves = await signIn(t.service, await addPerson(t.service, "Eve"));
    const form = await formFor(t.service, adas.session, id, "accept", { code: wrong(matchCode) });
    for (let i = 0; i < 4; i += 1)
      expect((await decide(t.service, eves.session, id, form)).kind).toMatch(/^(missing|forbidden)$/);
    expect(await rowOf(id)).toMatchObject({ status: "pending", matchTries: 0 });
    expect(await eventsOf(id)).toHaveLength(1);
    expect(await guess(id, matchCode)).toEqual({ kind: "decided" });
  });

  it("of many wrong ones at once three are counted, and it ends once", async () => {
    const { id, matchCode } = await mintCoded(ada);
    const forms = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        formFor(t.service, adas.session, id, "accept", { code: wrong(matchCode, i + 1) }),
      ),
    );
    await Promise.all(forms.map((form) => decide(t.service, adas.session, id, form)));
    const left = await rowOf(id);
    // Each loser tries again a few times; so some of the ten may not have come to their turn.
    for (let i = left.matchTries; i < 3; i += 1) await guess(id, wrong(matchCode, 20 + i));
    expect(await rowOf(id)).toMatchObject({ status: "withdrawn", reason: "match_failed", matchTries: 3 });
    const types = (await eventsOf(id)).map(({ type }) => type);
    expect(types).toEqual(["approval.minted", "approval.withdrawn", "security.match_failed"]);
  });
});
