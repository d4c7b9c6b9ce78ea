import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { authOptions } from "@/app/api/auth/[...nextauth]/options";
import { readSession } from "@/lib/sessions/read";
import { addPerson, type Person, password, signIn } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";

let t: TestService;
let ada: Person;

beforeAll(async () => {
  t = await createTestService();
  ada = await addPerson(t.service);
});
afterAll(() => t.stop());

type Authorize = (
  credentials: Record<string, unknown>,
  request: { headers: Record<string, string> },
) => Promise<{ claims: object } | null>;

function authorize(service: TestService["service"], credentials: Record<string, unknown>) {
  const [provider] = authOptions(service).providers;
  const { authorize: run } = (provider as unknown as { options: { authorize: Authorize } }).options;
  return run(credentials, { headers: { "user-agent": "test", "x-forwarded-for": "203.0.113.9" } });
}

describe("signing in with a local account", () => {
  it("gives exactly the claims of a session to the right password, and nothing to any other", async () => {
    const signedIn = await authorize(t.service, { email: ada.email.toUpperCase(), password });
    expect(Object.keys(signedIn?.claims ?? {}).toSorted()).toEqual([
      "amr",
      "authTime",
      "iss",
      "sid",
      "startedAt",
      "sub",
      "userId",
    ]);
    expect(signedIn?.claims).toMatchObject({ iss: t.service.issuer, sub: ada.userId, amr: ["pwd"] });
    for (const wrong of [
      { password: "wrong password entirely" },
      { email: "nobody@example.com" },
      { email: "a\u0000b@example.com" },
      { password: ["x"] },
      { email: undefined },
    ])
      expect(await authorize(t.service, { email: ada.email, password, ...wrong })).toBeNull();
  });

  it("tells nobody why it could not be done: with the database away there is one word", async () => {
    const away = await createTestService();
    await away.service.pool.end();
    await expect(authorize(away.service, { email: ada.email, password })).rejects.toThrow(/^unavailable$/);
  });

  it("a session that idled for 8 hours, is older than 7 days, or whose user is disabled holds no more", async () => {
    const now = Math.floor(Date.now() / 1000);
    const idle = await signIn(t.service, ada);
    await t.service.pool.query(`UPDATE "session" SET "last_seen_at" = now() - INTERVAL '8 hours' WHERE "sid" = $1`, [
      idle.session.sid,
    ]);
    expect(await readSession(t.service, new Headers({ cookie: idle.cookie }))).toBeUndefined();
    await expect(signIn(t.service, ada, { startedAt: now - 7 * 86_400 })).rejects.toThrow(/does not hold/);
    const bob = await addPerson(t.service, "Bob");
    const bobs = await signIn(t.service, bob);
    await t.service.pool.query(`UPDATE "user" SET "disabled_at" = now() WHERE "id" = $1`, [bob.userId]);
    expect(await readSession(t.service, new Headers({ cookie: bobs.cookie }))).toBeUndefined();
    expect(await authorize(t.service, { email: bob.email, password })).toBeNull();
  });
});
