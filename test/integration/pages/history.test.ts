import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listAudit } from "@/lib/audit/list";
import { noteWrongPerson } from "@/lib/audit/note-wrong-person";
import { readAudited } from "@/lib/audit/read";
import { addPerson, addTestClient, mintApproval, type Person, signIn, type TestClient } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";

let t: TestService;
let client: TestClient;
let ada: Person;
let eve: Person;
let adas: Awaited<ReturnType<typeof signIn>>;
let eves: Awaited<ReturnType<typeof signIn>>;
let auditor: Awaited<ReturnType<typeof signIn>>;

beforeAll(async () => {
  t = await createTestService();
  client = await addTestClient(t.service, { maxPendingPerSubject: 200, maxMintsPerSubjectPerHour: 200 });
  ada = await addPerson(t.service);
  eve = await addPerson(t.service, "Eve");
  adas = await signIn(t.service, ada);
  eves = await signIn(t.service, eve);
  auditor = await signIn(t.service, await addPerson(t.service, "Iris", ["auditor"]));
});
afterAll(() => t.stop());

const visitsOf = async (id: string) =>
  (
    await t.service.pool.query<{ actor: unknown; client_id: string; tool: string; data: unknown }>(
      `SELECT "actor", "client_id", "tool", "data" FROM "audit_event" WHERE "approval_id" = $1 AND "type" = 'security.wrong_person'`,
      [id],
    )
  ).rows;

describe("a visit by the wrong person", () => {
  it("is recorded once an hour for each approval and user, whatever the number of reloads", async () => {
    const { id } = await mintApproval(client, ada);
    await Promise.all(Array.from({ length: 10 }, () => noteWrongPerson(t.service, eves.session, id)));
    expect(await visitsOf(id)).toEqual([
      {
        actor: { kind: "person", iss: eve.iss, sub: eve.sub, userId: eve.userId },
        client_id: client.clientId,
        tool: "delete_project",
        data: null,
      },
    ]);
    await noteWrongPerson(t.service, auditor.session, id);
    expect(await visitsOf(id)).toHaveLength(2);
  });

  it("is none where the subject opens its own, or nothing is there", async () => {
    const { id } = await mintApproval(client, ada);
    for (const target of [id, "apr_00000000000000000000000000", "nonsense"])
      await noteWrongPerson(t.service, adas.session, target);
    await noteWrongPerson(t.service, eves.session, "apr_00000000000000000000000000");
    expect(await visitsOf(id)).toEqual([]);
    const { rows } = await t.service.pool.query(
      `SELECT 1 FROM "audit_event" WHERE "type" = 'security.wrong_person' AND "approval_id" LIKE 'apr_0000%'`,
    );
    expect(rows).toEqual([]);
  });

  it("is recorded of a decided approval too: whose it was comes from what is signed (I17)", async () => {
    const { id } = await mintApproval(client, ada, { action: { tool: "ended", arguments: {} } });
    await decideAs(t.service, adas.session, id, "decline");
    await noteWrongPerson(t.service, eves.session, id);
    await noteWrongPerson(t.service, adas.session, id);
    expect(await visitsOf(id)).toHaveLength(1);
  });
});

describe("the history", () => {
  it("opens to the auditor alone, list and detail", async () => {
    const { id } = await mintApproval(client, ada);
    const admin = await signIn(t.service, await addPerson(t.service, "Alan", ["admin"]));
    for (const { session } of [adas, eves, admin]) {
      expect(await listAudit(t.service, session, {})).toBeUndefined();
      expect(await readAudited(t.service, session, id)).toBeUndefined();
    }
    expect((await readAudited(t.service, auditor.session, id))?.approval.id).toBe(id);
  });

  it("is filtered by a person's e-mail address as by the sub, and lists each type once", async () => {
    const byEmail = await listAudit(t.service, auditor.session, { person: eve.email.toUpperCase() });
    const bySub = await listAudit(t.service, auditor.session, { person: eve.sub });
    expect(byEmail?.events.map((event) => event.seq)).toEqual(bySub?.events.map((event) => event.seq));
    expect(new Set(byEmail?.events.map((event) => event.type))).toEqual(
      new Set(["person.signed_in", "security.wrong_person"]),
    );
    expect((await listAudit(t.service, auditor.session, { person: "nobody@example.com" }))?.events).toEqual([]);
    const { rows } = await t.service.pool.query<{ type: string }>(
      `SELECT DISTINCT "type" FROM "audit_event" ORDER BY "type"`,
    );
    expect(byEmail?.types.filter((type) => type !== "person.audit_read")).toEqual(
      rows.map((row) => row.type).filter((type) => type !== "person.audit_read"),
    );
  });

  it("reads page by page without a gap or a repeat; another auditor's cursor opens nothing of it", async () => {
    for (let i = 0; i < 60; i += 1) await mintApproval(client, ada, { action: { tool: `page_${i}`, arguments: {} } });
    const all: bigint[] = [];
    const filter = { clientId: client.clientId };
    let page = await listAudit(t.service, auditor.session, filter);
    const cursor = page?.nextCursor;
    while (page) {
      all.push(...page.events.map((event) => event.seq));
      page = page.nextCursor
        ? await listAudit(t.service, auditor.session, { ...filter, cursor: page.nextCursor })
        : undefined;
    }
    const { rows } = await t.service.pool.query<{ seq: string }>(
      `SELECT "seq" FROM "audit_event" WHERE "client_id" = $1 ORDER BY "seq" DESC`,
      [client.clientId],
    );
    expect(all.map(String)).toEqual(rows.map((row) => row.seq));
    const other = await signIn(t.service, await addPerson(t.service, "Ines", ["auditor"]));
    const foreign = await listAudit(t.service, other.session, { ...filter, ...(cursor ? { cursor } : {}) });
    expect(foreign?.events[0]?.seq).toBe(all[0]);
  });

  it("calls a receipt genuine only where it tells what the row tells (I17)", async () => {
    const { id } = await mintApproval(client, ada, { action: { tool: "tampered", arguments: {} } });
    await decideAs(t.service, adas.session, id, "cancel");
    expect((await readAudited(t.service, auditor.session, id))?.receipt?.verdict).toBe("genuine");
    await t.service.pool.query(`UPDATE "approval" SET "status" = 'declined', "decision" = 'decline' WHERE "id" = $1`, [
      id,
    ]);
    expect((await readAudited(t.service, auditor.session, id))?.receipt?.verdict).toBe("row_mismatch");
    await t.service.pool.query(
      `UPDATE "approval" SET "status" = 'cancelled', "decision" = 'cancel', "subject_sub" = $2 WHERE "id" = $1`,
      [id, eve.sub],
    );
    expect((await readAudited(t.service, auditor.session, id))?.receipt?.verdict).toBe("wrong_subject");
  });

  it("records that it was read, once an hour for each thing read", async () => {
    const { id } = await mintApproval(client, ada, { action: { tool: "read", arguments: {} } });
    for (let i = 0; i < 3; i += 1) await readAudited(t.service, auditor.session, id);
    const { rows } = await t.service.pool.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM "audit_event" WHERE "type" = 'person.audit_read' AND "data" ->> 'what' = $1`,
      [id],
    );
    expect(rows[0]?.n).toBe(1);
  });
});
