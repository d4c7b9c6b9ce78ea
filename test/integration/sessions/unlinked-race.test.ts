import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startSession } from "@/lib/sessions/start";
import { linkIdentity } from "@/lib/users/link";
import { linkSelf, unlinkSelf } from "@/lib/users/link-self";
import { unlinkIdentity } from "@/lib/users/unlink";
import { addPerson, signIn } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";

const cli = { kind: "admin", via: "cli" } as const;
const iss = "https://login.example.com";

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

/** Somebody who is signed in, and how the link of theirs is made and taken away. */
async function stage(by: "the person" | "an admin", sub: string) {
  const person = await addPerson(t.service);
  const { session } = await signIn(t.service, person);
  const link = { iss, sub };
  if (by === "the person") await linkSelf(t.service, session, { ...link, provider: "acme" });
  else await linkIdentity(t.service, { user: person.userId, ...link }, cli);
  return {
    signInWithLink: () => startSession(t.service, { userId: person.userId, ...link, amr: ["fed"] }),
    unlink: () =>
      by === "the person"
        ? unlinkSelf(t.service, session, link)
        : unlinkIdentity(t.service, { user: person.userId, ...link }, cli),
    /** The sessions beside the one that this began with. */
    others: () =>
      t.service.prisma.session.count({
        where: { userId: person.userId, revokedAt: null, sid: { not: session.sid } },
      }),
  };
}

describe("a sign-in with an identity while it is taken away leaves no session that holds", () => {
  for (const by of ["the person", "an admin"] as const) {
    it(`by ${by}, and the sign-in was first`, async () => {
      const { signInWithLink, unlink, others } = await stage(by, `first, ${by}`);
      const holder = await t.service.pool.connect();
      await holder.query(`BEGIN; LOCK TABLE "audit_event" IN SHARE MODE`);
      const signingIn = signInWithLink();
      await untilWaiting(1);
      const unlinking = unlink();
      await untilWaiting(2);
      await holder.query("COMMIT");
      holder.release();
      await Promise.all([signingIn, unlinking]);
      expect(await others()).toBe(0);
    });

    it(`by ${by}, who was first: the sign-in is refused`, async () => {
      const { signInWithLink, unlink, others } = await stage(by, `second, ${by}`);
      const holder = await t.service.pool.connect();
      await holder.query(`BEGIN; LOCK TABLE "audit_event" IN SHARE MODE`);
      const unlinking = unlink();
      await untilWaiting(1);
      const signingIn = signInWithLink().catch((error: { code?: string }) => error.code);
      await untilWaiting(2);
      await holder.query("COMMIT");
      holder.release();
      expect([await signingIn, await unlinking.then(others)]).toEqual(["unavailable", 0]);
    });
  }
});
