import { afterAll, beforeAll, expect, it } from "vitest";
import { listIdentities } from "@/lib/users/identities";
import { macOfIdentity } from "@/lib/users/identity";
import { linkIdentity } from "@/lib/users/link";
import { unlinkIdentity } from "@/lib/users/unlink";
import { addPerson, signIn } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";

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

it("a sign-in that is under way while the link is taken away is seen: its session ends", async () => {
  const person = await addPerson(t.service, "Ada");
  const link = { user: person.userId, iss, sub: "under-way" };
  await linkIdentity(t.service, link, cli);
  await signIn(t.service, person);
  const signingIn = await t.service.pool.connect();
  try {
    await signingIn.query("BEGIN");
    await signingIn.query(`UPDATE "identity" SET "last_sign_in_at" = clock_timestamp() WHERE "sub" = 'under-way'`);
    const unlinking = unlinkIdentity(t.service, link, cli);
    await waiting();
    await signingIn.query("COMMIT");
    expect(await unlinking).toMatchObject({ changed: true, endedSessions: 1 });
  } finally {
    signingIn.release();
  }
});

it("of two at once one takes the link away, and the other finds it gone", async () => {
  const person = await addPerson(t.service, "Bob");
  const link = { user: person.userId, iss, sub: "twice" };
  await linkIdentity(t.service, link, cli);
  const holder = await t.service.pool.connect();
  try {
    await holder.query("BEGIN");
    await holder.query(`SELECT 1 FROM "identity" WHERE "sub" = 'twice' FOR UPDATE`);
    const both = Promise.all([1, 2].map(() => unlinkIdentity(t.service, link, cli)));
    await waiting();
    await holder.query("COMMIT");
    expect((await both).map(({ changed }) => changed).sort()).toEqual([false, true]);
  } finally {
    holder.release();
  }
});

it("I17: what is offered to be taken away is what can be: links, and what nobody wrote with the secret", async () => {
  const person = await addPerson(t.service, "Cy");
  const { userId } = person;
  const write = async (sub: string, linkedBy: string, isAuthentic: boolean, at = iss) => {
    const row = { iss: at, sub, userId, mayApprove: true, linkedBy };
    const mac = isAuthentic ? macOfIdentity(t.service.secrets, row) : new Uint8Array([0]);
    await t.service.prisma.identity.create({ data: { ...row, mac } });
  };
  await write("signs-in", "sign_in", true);
  await write("admin", "admin", true);
  await write("planted-self", "self", false);
  await write("planted-own-issuer", "self", false, t.service.issuer);
  await t.service.pool.query(`UPDATE "identity" SET "mac" = '\\x00' WHERE "sub" = $1`, [userId]);
  const identities = await listIdentities(t.service, userId);
  expect(
    identities
      .filter(({ isLink }) => !isLink)
      .map(({ sub }) => sub)
      .sort(),
  ).toEqual(["signs-in", userId].sort());
  for (const { isLink, ...identity } of identities) {
    const unlinked = unlinkIdentity(t.service, { user: userId, iss: identity.iss, sub: identity.sub }, cli);
    if (isLink) expect(await unlinked).toMatchObject({ changed: true });
    else await expect(unlinked).rejects.toMatchObject({ code: "invalid_request" });
  }
});
