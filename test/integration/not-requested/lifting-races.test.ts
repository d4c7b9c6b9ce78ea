import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { liftOwnFreeze } from "@/lib/clients/lift-freeze";
import { listPersonFreezes } from "@/lib/clients/list-freezes";
import { linkIdentity } from "@/lib/users/link";
import { unlinkIdentity } from "@/lib/users/unlink";
import { addPerson, addTestClient, mintApproval, type Person, signIn } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";

const cli = { kind: "admin", via: "cli" } as const;
const iss = "https://as.example.com";

let t: TestService;
beforeAll(async () => {
  t = await createTestService();
});
afterAll(() => t.stop());

/** Until a statement of this database waits for a lock. */
async function waiting(): Promise<void> {
  const sql = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  while ((await t.service.pool.query(sql)).rows.length === 0);
}

/** A freeze that this person has put up for an identity that an admin has linked to them. */
async function frozenForLinked(person: Person) {
  const link = { user: person.email, iss, sub: `linked-${randomUUID()}` };
  await linkIdentity(t.service, link, cli);
  const signedIn = await signIn(t.service, person);
  const client = await addTestClient(t.service, { issuers: [iss] });
  const { id } = await mintApproval(client, link);
  await decideAs(t.service, signedIn.session, id, "not_requested");
  const freezes = () => listPersonFreezes(t.service.pool, { clientId: client.clientId, subjects: [link] });
  const [freeze] = await freezes();
  return { link, session: signedIn.session, freezeId: freeze?.freezeId ?? "", freezes };
}

describe("whoever loses the right while they lift a freeze lifts nothing (I2)", () => {
  const losses = {
    "an admin takes the link away": `DELETE FROM "identity" WHERE "sub" = $1`,
    "the link becomes one that does not decide": `UPDATE "identity" SET "may_approve" = false WHERE "sub" = $1`,
    "their session ends": `UPDATE "session" SET "revoked_at" = clock_timestamp() WHERE "sid" = $2`,
    "they are disabled": `UPDATE "user" SET "disabled_at" = clock_timestamp() WHERE "id" = $3`,
  };
  for (const [loss, sql] of Object.entries(losses))
    it(`${loss}, in a transaction that was first`, async () => {
      const person = await addPerson(t.service);
      const { link, session, freezeId, freezes } = await frozenForLinked(person);
      const other = await t.service.pool.connect();
      try {
        await other.query("BEGIN");
        await other.query(`WITH given AS (SELECT $1::text, $2::text, $3::text) ${sql}`, [
          link.sub,
          session.sid,
          person.userId,
        ]);
        const lifting = liftOwnFreeze(t.service, session, freezeId);
        await Promise.race([waiting(), lifting]);
        await other.query("COMMIT");
        expect([await lifting, (await freezes()).length]).toEqual(["missing", 1]);
      } finally {
        other.release();
      }
    });

  it("and neither waits for the other for ever: lifting and unlinking at once both end", async () => {
    const person = await addPerson(t.service);
    for (let round = 0; round < 20; round += 1) {
      const { link, session, freezeId } = await frozenForLinked(person);
      await t.service.pool.query(`UPDATE "identity" SET "last_sign_in_at" = clock_timestamp() WHERE "sub" = $1`, [
        link.sub,
      ]);
      const [lifted, unlinked] = await Promise.all([
        liftOwnFreeze(t.service, session, freezeId),
        unlinkIdentity(t.service, link, cli),
      ]);
      expect(["lifted", "missing"]).toContain(lifted);
      expect(unlinked.changed).toBe(true);
    }
  });
});
