import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listPeople } from "@/lib/admin/list-people";
import { readClientForAdmin } from "@/lib/admin/read-client";
import { readPersonForAdmin } from "@/lib/admin/read-person";
import { appendAudit } from "@/lib/audit/append";
import { listPersonFreezes } from "@/lib/clients/list-freezes";
import { explainSubject } from "@/lib/users/explain-subject";
import { macOfIdentity } from "@/lib/users/identity";
import { addPerson, addTestClient, type Person, signIn } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";

const iss = "https://login.example.com";

let t: TestService;
let admins: Awaited<ReturnType<typeof signIn>>;
let boss: Person;

beforeAll(async () => {
  t = await createTestService();
  admins = await signIn(t.service, await addPerson(t.service, "Alan", ["admin"]));
  boss = await addPerson(t.service, "Boss");
});
afterAll(() => t.stop());

const insertEvent = (clientId: string, tool: string, age: string, userId: string) =>
  t.service.pool.query(
    `INSERT INTO "audit_event" ("at", "type", "client_id", "tool", "actor")
     VALUES (clock_timestamp() - $3::interval, 'security.wrong_person', $1, $2, jsonb_build_object('kind', 'person', 'userId', $4::text))`,
    [clientId, tool, age, userId],
  );

/** So many people have frozen this client for themselves, all in one moment. */
const insertFreezes = (clientId: string, count: number) =>
  t.service.pool.query(
    `INSERT INTO "freeze" ("id", "client_id", "subject_iss", "subject_sub", "reason", "created_at", "until")
     SELECT 'frz_' || $1 || lpad(i::text, 4, '0'), $1, $3, $1 || i, 'not_requested', date_trunc('milliseconds', clock_timestamp()),
       clock_timestamp() + INTERVAL '1 day' FROM generate_series(1, $2::int) i`,
    [clientId, count, iss],
  );

describe("what a provider calls somebody", () => {
  it("is said to be its word wherever an admin sees it, beside the id: the address of a local account cannot be borrowed", async () => {
    const userId = "usr_borrower";
    const row = { iss, sub: "borrower", userId, mayApprove: true, linkedBy: "sign_in" };
    await t.service.prisma.user.create({ data: { id: userId, email: null, contact: boss.email, name: "Boss" } });
    await t.service.prisma.identity.create({ data: { ...row, mac: macOfIdentity(t.service.secrets, row) } });
    const { clientId } = await addTestClient(t.service);
    await insertEvent(clientId, "borrowed", "1 minute", userId);
    await t.service.pool.query(
      `INSERT INTO "freeze" ("id", "client_id", "subject_iss", "subject_sub", "reason", "until")
       VALUES ('frz_borrowed', $1, $2, 'borrower', 'not_requested', clock_timestamp() + INTERVAL '1 day')`,
      [clientId, iss],
    );
    const borrowed = { userId, account: boss.email, isLocal: false, saidBy: iss };
    const own = { userId: boss.userId, account: boss.email, isLocal: true, saidBy: null };
    const { session } = admins;
    const found = (await listPeople(t.service, session, { search: boss.email }))?.people ?? [];
    expect(found).toHaveLength(2);
    expect(found).toEqual(expect.arrayContaining([borrowed, own].map((user) => expect.objectContaining(user))));
    expect(await readPersonForAdmin(t.service, session, userId)).toMatchObject(borrowed);
    expect(await readPersonForAdmin(t.service, session, boss.userId)).toMatchObject(own);
    expect(await readClientForAdmin(t.service, session, clientId)).toMatchObject({
      freezes: [{ user: borrowed }],
      events: [{ user: borrowed }],
    });
    expect((await explainSubject(t.service, { iss, sub: "borrower" })).user).toMatchObject(borrowed);
  });
});

describe("a client's page", () => {
  it("shows security events of this client alone, and of the last 30 days", async () => {
    const [client, other] = [await addTestClient(t.service), await addTestClient(t.service)];
    await insertEvent(client.clientId, "old", "30 days 1 minute", boss.userId);
    await insertEvent(client.clientId, "recent", "29 days 23 hours", boss.userId);
    await insertEvent(other.clientId, "elsewhere", "1 minute", boss.userId);
    const shown = await readClientForAdmin(t.service, admins.session, client.clientId);
    expect(shown?.events.map(({ tool }) => tool)).toEqual(["recent"]);
  });

  it("shows the 20 newest security events, of one kind or of several, and nothing that is none", async () => {
    const [one, several] = [await addTestClient(t.service), await addTestClient(t.service)];
    const shown = async (clientId: string) =>
      (await readClientForAdmin(t.service, admins.session, clientId))?.events.map(({ type, tool }) => [type, tool]);
    for (let i = 0; i < 21; i += 1) await insertEvent(one.clientId, `tool-${i}`, "1 minute", boss.userId);
    const newest = Array.from({ length: 20 }, (_, i) => ["security.wrong_person", `tool-${20 - i}`]);
    expect(await shown(one.clientId)).toEqual(newest);

    const kinds = ["security.throttled", "security.passkey_failed", "approval.receipt_refused"] as const;
    const actor = { kind: "person", iss: boss.iss, sub: boss.sub, userId: boss.userId } as const;
    const all: [string, string][] = [];
    for (let i = 0; i < 30; i += 1)
      for (const type of [kinds[i % 3] ?? kinds[0], "approval.minted"] as const) {
        await appendAudit(t.service.pool, { type, clientId: several.clientId, tool: `tool-${i}`, actor });
        if (type !== "approval.minted") all.unshift([type, `tool-${i}`]);
      }
    expect(await shown(several.clientId)).toEqual(all.slice(0, 20));
  });

  it("shows everybody who has frozen it, page by page, without a gap or a repeat; a list by subject is whole", async () => {
    const [client, other] = [await addTestClient(t.service), await addTestClient(t.service)];
    await insertFreezes(client.clientId, 250);
    await insertFreezes(other.clientId, 1);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await readClientForAdmin(t.service, admins.session, client.clientId, cursor);
      expect(page?.client.frozenByPeople).toBe(250);
      seen.push(...(page?.freezes ?? []).map(({ subject }) => subject.sub));
      cursor = page?.nextCursor;
    } while (cursor);
    expect([seen.length, new Set(seen).size]).toEqual([250, 250]);
    const subjects = seen.map((sub) => ({ iss, sub }));
    expect(await listPersonFreezes(t.service.pool, { subjects })).toHaveLength(250);
  });

  it("takes a cursor of another list, or of another admin, for none", async () => {
    const { clientId } = await addTestClient(t.service);
    await insertFreezes(clientId, 60);
    const people = Array.from({ length: 60 }, (_, i) => ({ id: `usr_many_${i}`, name: "Many" }));
    await t.service.prisma.user.createMany({ data: people });
    const other = await signIn(t.service, await addPerson(t.service, "Anna", ["admin"]));
    const first = await readClientForAdmin(t.service, admins.session, clientId);
    const cursors = [
      (await listPeople(t.service, admins.session))?.nextCursor,
      (await readClientForAdmin(t.service, other.session, clientId))?.nextCursor,
      "nonsense",
    ];
    for (const cursor of cursors) {
      expect(cursor).toBeDefined();
      expect((await readClientForAdmin(t.service, admins.session, clientId, cursor))?.freezes).toEqual(first?.freezes);
    }
  });
});
