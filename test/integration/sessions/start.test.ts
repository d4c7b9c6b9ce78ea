import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Service } from "@/lib/process";
import { startSession } from "@/lib/sessions/start";
import { disableUser } from "@/lib/users/disable";
import { setPassword } from "@/lib/users/set-password";
import { addPerson, type Person } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";

const actor = { kind: "admin", via: "cli" } as const;

let t: TestService;
let service: Service;

beforeAll(async () => {
  t = await createTestService();
  ({ service } = t);
});
afterAll(() => t.stop());

/** How many connections to this database wait for a lock. */
async function waiters(): Promise<number> {
  const { rows } = await service.pool.query<{ count: number }>(
    `SELECT count(*)::INTEGER AS "count" FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows[0]?.count ?? 0;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo()));
}

/** Lets `change` happen after the sign-in has looked at the user and written its session, but before that is to be seen. */
async function duringSignIn(person: Person, change: () => Promise<unknown>): Promise<void> {
  const { passwordHash } = await service.prisma.user.findUniqueOrThrow({ where: { id: person.userId } });
  const holder = await service.pool.connect();
  await holder.query("BEGIN");
  await holder.query(`SELECT FROM "identity" WHERE "iss" = $1 AND "sub" = $2 FOR UPDATE`, [person.iss, person.sub]);
  const signingIn = startSession(service, { ...person, amr: ["pwd"], passwordHash });
  await until(async () => (await waiters()) === 1);
  let isDone = false;
  const changing = change().then(() => {
    isDone = true;
  });
  await until(async () => isDone || (await waiters()) === 2);
  await holder.query("COMMIT");
  holder.release();
  await Promise.all([signingIn, changing]);
}

describe("a sign-in that is under way", () => {
  const changes = {
    "while the user is disabled": (person: Person) => disableUser(service, person.userId, actor),
    "while the password is replaced": (person: Person) =>
      setPassword(service, { user: person.userId, password: "another long password" }, actor),
  };
  for (const [when, change] of Object.entries(changes))
    it(`${when} leaves no session that holds`, async () => {
      const person = await addPerson(service);
      await duringSignIn(person, () => change(person));
      const sessions = await service.prisma.session.findMany({ where: { userId: person.userId } });
      expect(sessions).toHaveLength(1);
      expect(sessions[0]?.revokedAt).toBeInstanceOf(Date);
    });
});
