import { verifyReceipt } from "@countersign/mcp/receipt";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readApproval } from "@/lib/approvals/store";
import { listPersonFreezes } from "@/lib/clients/list-freezes";
import { linkIdentity } from "@/lib/users/link";
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
import { decideAs } from "@/test/support/deciding";

let t: TestService;
let ada: Person;
let bob: Person;
let adas: Awaited<ReturnType<typeof signIn>>;
let bobs: Awaited<ReturnType<typeof signIn>>;

beforeAll(async () => {
  t = await createTestService();
  ada = await addPerson(t.service, "Ada");
  bob = await addPerson(t.service, "Bob");
  adas = await signIn(t.service, ada);
  bobs = await signIn(t.service, bob);
});
afterAll(() => t.stop());

const stateOf = async (id: string) => {
  const read = await readApproval(t.service.pool, id);
  if (!read) throw new Error("the approval is not there");
  const { approval } = read;
  return `${approval.status} ${"reason" in approval ? approval.reason : ""}`.trim();
};
const mintCode = (client: TestClient, person: { iss: string; sub: string }) =>
  codeOf(client.api("POST", "/approvals", mintBody(person)));
const typesOf = async (clientId: string) =>
  (
    await t.service.pool.query<{ type: string; reason: string | null; kind: string }>(
      `SELECT "type", "reason", "actor" ->> 'kind' AS "kind" FROM "audit_event" WHERE "client_id" = $1 AND "type" !~ 'minted|accepted|consumed|client_added|key_created' ORDER BY "seq"`,
      [clientId],
    )
  ).rows.map(({ type, reason, kind }) => [type, reason, kind].join(" "));

/** One of each kind between this client and Ada, and what must stay as it is. */
async function stage() {
  const [client, other] = [await addTestClient(t.service), await addTestClient(t.service)];
  const asked = await mintApproval(client, ada);
  const pending = await mintApproval(client, ada);
  const accepted = await mintApproval(client, ada);
  const consumed = await mintApproval(client, ada);
  const elsewhere = await mintApproval(other, ada);
  const bobsOwn = await mintApproval(client, bob);
  const bobsAccepted = await mintApproval(client, bob);
  for (const { id } of [accepted, consumed]) await decideAs(t.service, adas.session, id, "accept");
  await decideAs(t.service, bobs.session, bobsAccepted.id, "accept");
  expect(await consumeCode(client, ada, consumed.id)).toEqual([200, "ok"]);
  return { client, other, asked, pending, accepted, consumed, elsewhere, bobsOwn, bobsAccepted };
}

it("declines with its reason, withdraws what is live of this client for this person, and freezes the two: nothing else changes", async () => {
  const { client, other, asked, pending, accepted, consumed, elsewhere, bobsOwn, bobsAccepted } = await stage();
  expect(await decideAs(t.service, adas.session, asked.id, "not_requested")).toEqual({ kind: "decided" });
  const states = [asked, pending, accepted, consumed, elsewhere, bobsOwn, bobsAccepted].map(({ id }) => stateOf(id));
  expect(await Promise.all(states)).toEqual([
    "declined not_requested",
    "withdrawn frozen",
    "withdrawn frozen",
    "accepted",
    "pending",
    "pending",
    "accepted",
  ]);
  expect(await mintCode(client, ada)).toEqual([403, "frozen"]);
  expect(await consumeCode(client, ada, accepted.id)).toEqual([403, "frozen"]);
  expect(await mintCode(other, ada)).toEqual([201, "ok"]);
  expect(await mintCode(client, bob)).toEqual([201, "ok"]);
  expect(await consumeCode(client, bob, bobsAccepted.id)).toEqual([200, "ok"]);
  expect(await typesOf(client.clientId)).toEqual([
    "approval.declined not_requested person",
    "admin.client_frozen not_requested person",
    "approval.withdrawn frozen service",
    "approval.withdrawn frozen service",
  ]);
});

it("what ran before stays, and its outcome may still be reported", async () => {
  const { client, asked, consumed } = await stage();
  await decideAs(t.service, adas.session, asked.id, "not_requested");
  const report = { consumerToken: "A".repeat(43), outcome: "succeeded" };
  expect(await codeOf(client.api("POST", `/approvals/${consumed.id}/outcome`, report))).toEqual([200, "ok"]);
});

it("each of the ends has a receipt that tells it", async () => {
  const { client, asked, pending } = await stage();
  await decideAs(t.service, adas.session, asked.id, "not_requested");
  for (const [id, told] of [
    [asked.id, { status: "declined", decision: "decline", reason: "not_requested" }],
    [pending.id, { status: "withdrawn", reason: "frozen" }],
  ] as const) {
    const { receipt = "" } = (await (await client.api("GET", `/approvals/${id}`)).json()) as { receipt?: string };
    const verdict = await verifyReceipt(receipt, {
      issuer: t.service.issuer,
      audience: client.clientId,
      approvalId: id,
      keys: (kid) => t.service.keys.find(kid),
    });
    expect(verdict).toMatchObject({ ok: true, claims: told });
  }
});

it("I8: all of it happens or nothing: where the freeze cannot be written, nothing is declined and nothing is withdrawn", async () => {
  const { client, asked, pending, accepted } = await stage();
  const before = await typesOf(client.clientId);
  await t.service.pool.query(
    `CREATE FUNCTION "refuse_freeze"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no freeze today'; END $$;
     CREATE TRIGGER "refuse_freeze" BEFORE INSERT ON "freeze" FOR EACH ROW EXECUTE FUNCTION "refuse_freeze"();`,
  );
  try {
    await expect(decideAs(t.service, adas.session, asked.id, "not_requested")).rejects.toThrow("no freeze today");
  } finally {
    await t.service.pool.query(`DROP TRIGGER "refuse_freeze" ON "freeze"; DROP FUNCTION "refuse_freeze"();`);
  }
  const states = [asked, pending, accepted].map(({ id }) => stateOf(id));
  expect(await Promise.all(states)).toEqual(["pending", "pending", "accepted"]);
  expect(await typesOf(client.clientId)).toEqual(before);
  expect(await mintCode(client, ada)).toEqual([201, "ok"]);
});

it("holds for 24 hours and no longer, by the database's clock", async () => {
  const { client, asked } = await stage();
  await decideAs(t.service, adas.session, asked.id, "not_requested");
  const [freeze] = await listPersonFreezes(t.service.pool, { clientId: client.clientId });
  const seconds = ((freeze?.until.getTime() ?? 0) - (freeze?.createdAt.getTime() ?? 0)) / 1000;
  expect(Math.round(seconds)).toBe(24 * 3600);
  const endAt = (offset: string) =>
    t.service.pool.query(`UPDATE "freeze" SET "until" = clock_timestamp() + $2::interval WHERE "id" = $1`, [
      freeze?.freezeId,
      offset,
    ]);
  await endAt("1 minute");
  expect(await mintCode(client, ada)).toEqual([403, "frozen"]);
  await endAt("0");
  // Of another action: the one that was declined has its cool-down besides.
  const body = mintBody(ada, { action: { tool: "another", arguments: {} } });
  expect(await codeOf(client.api("POST", "/approvals", body))).toEqual([201, "ok"]);
  expect(await listPersonFreezes(t.service.pool, { clientId: client.clientId })).toEqual([]);
});

it("of two presses at once one declines; the other finds its request withdrawn, and there is one freeze", async () => {
  const { client, asked, pending } = await stage();
  const results = await Promise.all(
    [asked, pending].map(({ id }) => decideAs(t.service, adas.session, id, "not_requested")),
  );
  expect(results.map(({ kind }) => kind).sort()).toEqual(["already_decided", "decided"]);
  expect(await listPersonFreezes(t.service.pool, { clientId: client.clientId })).toHaveLength(1);
});

it("no mint that races with it leaves anything live behind", async () => {
  for (let round = 0; round < 5; round += 1) {
    const client = await addTestClient(t.service, { maxPendingPerSubject: 100, maxMintsPerSubjectPerHour: 1_000 });
    const asked = await mintApproval(client, ada);
    const mints = Array.from({ length: 6 }, () => mintCode(client, ada));
    await mints[round];
    await decideAs(t.service, adas.session, asked.id, "not_requested");
    await Promise.all(mints);
    const live = { clientId: client.clientId, status: { in: ["pending", "accepted"] } };
    expect(await t.service.prisma.approval.count({ where: live })).toBe(0);
  }
});

it("protects the person, as every identity that they decide for: their own and those that an admin has linked", async () => {
  const iss = "https://as.example.com";
  const linked = { iss, sub: `linked-${ada.userId}` };
  await linkIdentity(t.service, { user: ada.email, ...linked }, { kind: "admin", via: "cli" });
  const client = await addTestClient(t.service, { issuers: [iss, t.service.issuer] });
  const [own, bobs] = [await mintApproval(client, ada), await mintApproval(client, bob)];
  const { id } = await mintApproval(client, linked);
  expect(await decideAs(t.service, adas.session, id, "not_requested")).toEqual({ kind: "decided" });
  expect(await mintCode(client, linked)).toEqual([403, "frozen"]);
  expect(await stateOf(own.id)).toBe("withdrawn frozen");
  expect(await mintCode(client, ada)).toEqual([403, "frozen"]);
  expect(await stateOf(bobs.id)).toBe("pending");
  const frozen = await listPersonFreezes(t.service.pool, { clientId: client.clientId });
  expect(frozen.map(({ subject }) => subject)).toEqual(
    expect.arrayContaining([linked, { iss: ada.iss, sub: ada.sub }]),
  );
});
