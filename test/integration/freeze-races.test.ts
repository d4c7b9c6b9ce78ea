import { afterAll, beforeAll, expect, it } from "vitest";
import { readApproval } from "@/lib/approvals/store";
import { freezeClient } from "@/lib/clients/freeze";
import { addPerson, addTestClient, mintApproval, signIn } from "@/test/support/actors";
import { consumeCode } from "@/test/support/codes";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";

const cli = { kind: "admin", via: "cli" } as const;

let t: TestService;
beforeAll(async () => {
  t = await createTestService();
});
afterAll(() => t.stop());

/** Until this many statements of this database wait for a lock. */
async function untilWaiting(count: number): Promise<void> {
  const sql = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  while ((await t.service.pool.query(sql)).rows.length < count);
}

it("I8: an accept that is being written while its person says that they did not ask is withdrawn with the rest: nothing is left to run", async () => {
  const ada = await addPerson(t.service, "Ada");
  const [phone, laptop] = [(await signIn(t.service, ada)).session, (await signIn(t.service, ada)).session];
  const client = await addTestClient(t.service);
  const [asked, other] = [await mintApproval(client, ada), await mintApproval(client, ada)];
  // Decisions lock their approval first and the session then: this one has its approval and waits.
  const holder = await t.service.pool.connect();
  await holder.query("BEGIN");
  await holder.query(`SELECT 1 FROM "session" WHERE "sid" = $1 FOR UPDATE`, [phone.sid]);
  const accepting = decideAs(t.service, phone, other.id, "accept");
  await untilWaiting(1);
  const reporting = decideAs(t.service, laptop, asked.id, "not_requested");
  await untilWaiting(2);
  await holder.query("COMMIT");
  holder.release();
  expect([await accepting, await reporting]).toEqual([{ kind: "decided" }, { kind: "decided" }]);
  expect(await readApproval(t.service.pool, other.id)).toMatchObject({
    approval: { status: "withdrawn", reason: "frozen" },
  });
  // Also once the freeze is over.
  await t.service.pool.query(`UPDATE "freeze" SET "lifted_at" = clock_timestamp() WHERE "client_id" = $1`, [
    client.clientId,
  ]);
  expect((await consumeCode(client, ada, other.id))[0]).toBe(403);
});

it("of two admins who freeze a client at once one freezes it, and the other finds it frozen", async () => {
  const { clientId } = await addTestClient(t.service);
  // Whoever writes the history has put up the freeze, and waits here before it is to be seen.
  const holder = await t.service.pool.connect();
  await holder.query(`BEGIN; LOCK TABLE "audit_event" IN SHARE MODE`);
  const freezing = [1, 2].map(() => freezeClient(t.service, clientId, cli));
  await untilWaiting(2);
  await holder.query("COMMIT");
  holder.release();
  expect((await Promise.all(freezing)).map(({ changed }) => changed).sort()).toEqual([false, true]);
  expect(await t.service.prisma.freeze.count({ where: { clientId } })).toBe(1);
  expect(await t.service.prisma.auditEvent.count({ where: { clientId, type: "admin.client_frozen" } })).toBe(1);
});
