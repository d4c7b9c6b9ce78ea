import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freezeClient } from "@/lib/clients/freeze";
import { liftOwnFreeze, liftPersonFreeze } from "@/lib/clients/lift-freeze";
import { listOwnFreezes, listPersonFreezes } from "@/lib/clients/list-freezes";
import { readClock } from "@/lib/database/clock";
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
import { codeOf, consumeCode } from "@/test/support/codes";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";

const cli = { kind: "admin", via: "cli" } as const;

let t: TestService;
let ada: Person;
let adas: Awaited<ReturnType<typeof signIn>>;
let eves: Awaited<ReturnType<typeof signIn>>;

beforeAll(async () => {
  t = await createTestService();
  ada = await addPerson(t.service, "Ada");
  adas = await signIn(t.service, ada);
  eves = await signIn(t.service, await addPerson(t.service, "Eve"));
});
afterAll(() => t.stop());

let count = 0;
const mintCode = (client: TestClient, person: { iss: string; sub: string }) => {
  count += 1;
  return codeOf(
    client.api("POST", "/approvals", mintBody(person, { action: { tool: `tool_${count}`, arguments: {} } })),
  );
};

/** A client that Ada has frozen for herself, and the freeze. */
async function frozen(): Promise<{ client: TestClient; freezeId: string }> {
  const client = await addTestClient(t.service);
  const { id } = await mintApproval(client, ada);
  await decideAs(t.service, adas.session, id, "not_requested");
  const freezes = await listPersonFreezes(t.service.pool, { clientId: client.clientId });
  const freeze = freezes.find(({ subject }) => subject.sub === ada.sub);
  return { client, freezeId: freeze?.freezeId ?? "" };
}

const liftsOf = async (clientId: string) =>
  (
    await t.service.pool.query(
      `SELECT "type", "actor", "reason", "data" FROM "audit_event" WHERE "client_id" = $1 AND "type" IN ('person.freeze_lifted', 'admin.client_unfrozen') ORDER BY "seq"`,
      [clientId],
    )
  ).rows;

/** As old as the sign-in of a session may be, give or take. */
async function signedInBefore(seconds: number) {
  const now = await readClock(t.service.pool);
  return signIn(t.service, ada, { authTime: Math.floor(now.getTime() / 1000) - seconds });
}

describe("a person lifts what they have put up", () => {
  it("after a fresh sign-in: from then on the client may ask them again, and the history says who lifted it", async () => {
    const { client, freezeId } = await frozen();
    expect(await listOwnFreezes(t.service, adas.session)).toContainEqual(expect.objectContaining({ freezeId }));
    expect(await mintCode(client, ada)).toEqual([403, "frozen"]);
    expect(await liftOwnFreeze(t.service, adas.session, freezeId)).toBe("lifted");
    expect(await mintCode(client, ada)).toEqual([201, "ok"]);
    expect(await liftsOf(client.clientId)).toEqual([
      {
        type: "person.freeze_lifted",
        actor: { kind: "person", iss: ada.iss, sub: ada.sub, userId: ada.userId },
        reason: null,
        data: { subjectIss: ada.iss, subjectSub: ada.sub },
      },
    ]);
  });

  it("a sign-in older than 300 s does not: an agent that drives a browser left open cannot undo it", async () => {
    const { client, freezeId } = await frozen();
    const old = await signedInBefore(302);
    expect(await liftOwnFreeze(t.service, old.session, freezeId)).toBe("step_up");
    expect(await mintCode(client, ada)).toEqual([403, "frozen"]);
    const recent = await signedInBefore(290);
    expect(await liftOwnFreeze(t.service, recent.session, freezeId)).toBe("lifted");
  });

  it("I2: nobody else can, and what is not theirs looks like what is not there", async () => {
    const { client, freezeId } = await frozen();
    const { freezeId: other } = await frozen();
    for (const id of [freezeId, other, `frz_${randomUUID()}`, "nonsense"])
      expect(await liftOwnFreeze(t.service, eves.session, id)).toBe("missing");
    expect(await listOwnFreezes(t.service, eves.session)).toEqual([]);
    expect(await mintCode(client, ada)).toEqual([403, "frozen"]);
  });

  it("I4: lifting twice, or twice at once, is lifting once", async () => {
    const { client, freezeId } = await frozen();
    const lift = () => liftOwnFreeze(t.service, adas.session, freezeId);
    expect(await Promise.all([lift(), lift(), lift()])).toEqual(["lifted", "lifted", "lifted"]);
    expect(await lift()).toBe("lifted");
    expect(await liftsOf(client.clientId)).toHaveLength(1);
  });

  it("a form sent again lifts no later freeze of the same two", async () => {
    const { client, freezeId } = await frozen();
    await liftOwnFreeze(t.service, adas.session, freezeId);
    const { id } = await mintApproval(client, ada, { action: { tool: "again", arguments: {} } });
    await decideAs(t.service, adas.session, id, "not_requested");
    expect(await liftOwnFreeze(t.service, adas.session, freezeId)).toBe("lifted");
    expect(await mintCode(client, ada)).toEqual([403, "frozen"]);
  });

  it("consume sees it at once, too", async () => {
    const client = await addTestClient(t.service);
    const { id } = await mintApproval(client, ada);
    await decideAs(t.service, adas.session, id, "accept");
    const freezeId = `frz_${randomUUID()}`;
    // As a freeze that came between, whose withdrawal has not got there yet.
    await t.service.pool.query(
      `INSERT INTO "freeze" ("id", "client_id", "subject_iss", "subject_sub", "reason", "until")
       VALUES ($1, $2, $3, $4, 'not_requested', clock_timestamp() + INTERVAL '1 day')`,
      [freezeId, client.clientId, ada.iss, ada.sub],
    );
    expect(await consumeCode(client, ada, id)).toEqual([403, "frozen"]);
    expect(await liftOwnFreeze(t.service, adas.session, freezeId)).toBe("lifted");
    expect(await consumeCode(client, ada, id)).toEqual([200, "ok"]);
  });

  it("a freeze for everybody stays: it is not theirs to lift", async () => {
    const { client, freezeId } = await frozen();
    await freezeClient(t.service, client.clientId, cli);
    const everybody = await t.service.prisma.freeze.findFirstOrThrow({
      where: { clientId: client.clientId, subjectSub: null },
    });
    expect(await liftOwnFreeze(t.service, adas.session, everybody.id)).toBe("missing");
    expect(await liftOwnFreeze(t.service, adas.session, freezeId)).toBe("lifted");
    expect(await mintCode(client, ada)).toEqual([403, "frozen"]);
  });

  it("of an identity that an admin has linked to them, for as long as the link holds", async () => {
    const iss = "https://as.example.com";
    const link = { user: ada.email, iss, sub: `linked-${randomUUID()}` };
    await linkIdentity(t.service, link, cli);
    const client = await addTestClient(t.service, { issuers: [iss] });
    const { id } = await mintApproval(client, link);
    await decideAs(t.service, adas.session, id, "not_requested");
    const [freeze] = await listOwnFreezes(t.service, adas.session).then((all) =>
      all.filter(({ clientId, subject }) => clientId === client.clientId && subject.iss === iss),
    );
    expect(freeze?.subject).toEqual({ iss, sub: link.sub });
    await unlinkIdentity(t.service, link, cli);
    expect(await liftOwnFreeze(t.service, adas.session, freeze?.freezeId ?? "")).toBe("missing");
    expect((await listOwnFreezes(t.service, adas.session)).map(({ subject }) => subject.sub)).not.toContain(link.sub);
    await linkIdentity(t.service, link, cli);
    expect(await liftOwnFreeze(t.service, adas.session, freeze?.freezeId ?? "")).toBe("lifted");
    expect(await mintCode(client, link)).toEqual([201, "ok"]);
  });
});

describe("an admin lifts what a person has put up", () => {
  it("by its id, once, and the history names the admin", async () => {
    const { client, freezeId } = await frozen();
    const actor = { kind: "admin", userId: "usr_admin", via: "page" } as const;
    const of = { freezeId, clientId: client.clientId };
    expect(await liftPersonFreeze(t.service, of, actor)).toEqual({ ...of, changed: true });
    expect(await liftPersonFreeze(t.service, of, actor)).toEqual({ ...of, changed: false });
    expect(await mintCode(client, ada)).toEqual([201, "ok"]);
    expect(await liftsOf(client.clientId)).toEqual([
      {
        type: "admin.client_unfrozen",
        actor,
        reason: "not_requested",
        data: { subjectIss: ada.iss, subjectSub: ada.sub },
      },
    ]);
  });

  it("not under another client's name, and not a freeze for everybody", async () => {
    const { client, freezeId } = await frozen();
    await freezeClient(t.service, client.clientId, cli);
    const everybody = await t.service.prisma.freeze.findFirstOrThrow({
      where: { clientId: client.clientId, subjectSub: null },
    });
    const { clientId: other } = await addTestClient(t.service);
    for (const of of [{ freezeId, clientId: other }, { freezeId: everybody.id }, { freezeId: "frz_none" }])
      await expect(liftPersonFreeze(t.service, of, cli)).rejects.toMatchObject({ code: "not_found" });
    expect(await liftsOf(client.clientId)).toEqual([]);
  });
});
