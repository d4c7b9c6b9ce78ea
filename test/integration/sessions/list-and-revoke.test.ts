import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFormApp, isForm } from "@/app/forms";
import type { Service } from "@/lib/process";
import { setService } from "@/lib/process";
import { csrfToken } from "@/lib/sessions/csrf";
import { endUserSessions } from "@/lib/sessions/end-all";
import { listSessions } from "@/lib/sessions/list";
import { readSession } from "@/lib/sessions/read";
import { replaceSession } from "@/lib/sessions/replace";
import { revokeOtherSessions, revokeSession } from "@/lib/sessions/revoke";
import { startSession } from "@/lib/sessions/start";
import { disableUser, enableUser } from "@/lib/users/disable";
import { setPassword } from "@/lib/users/set-password";
import { addPerson, type Person, signIn } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";

const actor = { kind: "admin", via: "cli" } as const;
const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

let t: TestService;
let service: Service;

beforeAll(async () => {
  t = await createTestService();
  ({ service } = t);
  setService(service);
});
afterAll(() => t.stop());

type SignedIn = Awaited<ReturnType<typeof signIn>>;

const isSignedIn = async ({ cookie }: SignedIn) => (await readSession(service, new Headers({ cookie }))) !== undefined;

async function threeSessions(person: Person) {
  const [here, phone, laptop] = [
    await signIn(service, person),
    await signIn(service, person),
    await signIn(service, person),
  ];
  await service.prisma.session.update({
    where: { sid: phone.session.sid },
    data: { userAgent: firefox, address: "192.0.2.4" },
  });
  return { here, phone, laptop };
}

const nameOf = async ({ session }: SignedIn) =>
  (await listSessions(service, session.userId, session.sid)).find(({ isCurrent }) => isCurrent)?.name ?? "";

const lastEvent = async (type: string) =>
  (await service.prisma.auditEvent.findFirst({ where: { type }, orderBy: { seq: "desc" } })) ?? undefined;

describe("a person's sessions", () => {
  it("are listed with the current one first, and without those that hold no more", async () => {
    const person = await addPerson(service);
    const { here, phone, laptop } = await threeSessions(person);
    const age = (sid: string, column: string, hours: number) =>
      service.pool.query(`UPDATE "session" SET "${column}" = now() - make_interval(hours => $2) WHERE "sid" = $1`, [
        sid,
        hours,
      ]);
    await age(here.session.sid, "last_seen_at", 7);
    const listed = await listSessions(service, person.userId, here.session.sid);
    expect(listed.map(({ isCurrent }) => isCurrent)).toEqual([true, false, false]);
    expect(listed).toContainEqual(expect.objectContaining({ userAgent: firefox, address: "192.0.2.4" }));
    await age(phone.session.sid, "last_seen_at", 8);
    await age(laptop.session.sid, "created_at", 7 * 24);
    expect(await listSessions(service, person.userId, here.session.sid)).toHaveLength(1);
  });

  it("are named by a keyed digest: no sid leaves the database, and another deployment's names are others", async () => {
    const { here } = await threeSessions(await addPerson(service));
    const listed = await listSessions(service, here.session.userId, here.session.sid);
    expect(JSON.stringify(listed)).not.toContain("ses_");
    for (const { name } of listed) expect(name).toMatch(/^[\w-]{16}$/);
    expect(new Set(listed.map(({ name }) => name)).size).toBe(3);
  });

  it("end one by one, from their next request on, and the history says which", async () => {
    const person = await addPerson(service);
    const { here, phone, laptop } = await threeSessions(person);
    const name = await nameOf(phone);
    expect(await revokeSession(service, here.session, name)).toBe(true);
    expect([await isSignedIn(here), await isSignedIn(phone), await isSignedIn(laptop)]).toEqual([true, false, true]);
    expect(await lastEvent("person.session_ended")).toMatchObject({
      actor: { kind: "person", userId: person.userId },
      data: { session: name, address: "192.0.2.4", userAgent: firefox },
    });
    expect(await revokeSession(service, here.session, name)).toBe(false);
  });

  it("end all but the current one, and nobody else's", async () => {
    const { here, phone, laptop } = await threeSessions(await addPerson(service));
    const stranger = await signIn(service, await addPerson(service, "Eve"));
    expect(await revokeSession(service, stranger.session, await nameOf(phone))).toBe(false);
    expect(await revokeSession(service, here.session, await nameOf(stranger))).toBe(false);
    expect(await revokeSession(service, here.session, await nameOf(here))).toBe(false);
    expect(await revokeOtherSessions(service, stranger.session)).toBe(0);
    expect(await revokeOtherSessions(service, here.session)).toBe(2);
    expect(await Promise.all([here, phone, laptop, stranger].map(isSignedIn))).toEqual([true, false, false, true]);
    expect(await lastEvent("person.session_ended")).toMatchObject({ data: { endedSessions: 2 } });
  });

  it("end also where a step-up puts another in the place of one of them at the same moment", async () => {
    const person = await addPerson(service);
    const here = await signIn(service, person);
    for (let round = 0; round < 25; round += 1) {
      const other = await signIn(service, person);
      const proof = { authTime: Math.floor(Date.now() / 1000), amr: ["pwd"], stepUpFor: "account" };
      const endThem = round % 2 === 0 ? revokeOtherSessions(service, here.session) : undefined;
      await Promise.all([
        replaceSession(service, other.session, proof),
        endThem ?? endUserSessions(service, person.email, actor),
      ]);
      const left = await listSessions(service, person.userId, here.session.sid);
      expect(left.filter(({ isCurrent }) => !isCurrent)).toEqual([]);
    }
  });
});

describe("the forms of the account page", () => {
  const post = async (path: string, { cookie, csrf }: { cookie?: string; csrf: string }, site = "same-origin") =>
    createFormApp(service).fetch(
      new Request(`${service.config.url}${path}`, {
        method: "POST",
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          "sec-fetch-site": site,
          ...(cookie ? { cookie } : {}),
        },
        body: new URLSearchParams({ csrf }),
      }),
    );
  const tokenOf = ({ session }: SignedIn, target: string) =>
    csrfToken(service.secrets, { sid: session.sid, purpose: "account", target });

  it("I1: end a session, or all others, only with the token of this session and this very form, from our own page", async () => {
    const { here, phone, laptop } = await threeSessions(await addPerson(service));
    const [one, two] = [await nameOf(phone), await nameOf(laptop)];
    const path = `/account/sessions/${one}/end`;
    const { cookie } = here;
    const good = tokenOf(here, `session:${one}`);
    const refused = [
      [await post(path, { cookie, csrf: good }, "cross-site"), 403],
      [await post(path, { cookie, csrf: "" }), 403],
      [await post(path, { cookie, csrf: tokenOf(here, `session:${two}`) }), 403],
      [await post(path, { cookie, csrf: tokenOf(here, "sessions:others") }), 403],
      [await post(path, { cookie, csrf: tokenOf(phone, `session:${one}`) }), 403],
      [await post("/account/sessions/end-others", { cookie, csrf: good }), 403],
      [await post(path, { csrf: good }), 303],
    ] as const;
    for (const [response, status] of refused) expect(response.status).toBe(status);
    expect(refused.at(-1)?.[0].headers.get("location")).toBe("/signin?callbackUrl=%2Faccount");
    expect(await isSignedIn(phone)).toBe(true);

    const ended = await post(path, { cookie, csrf: good });
    expect([ended.status, ended.headers.get("location")]).toEqual([303, "/account#sessions"]);
    expect([await isSignedIn(phone), await isSignedIn(laptop)]).toEqual([false, true]);
    const others = await post("/account/sessions/end-others", { cookie, csrf: tokenOf(here, "sessions:others") });
    expect([others.status, await isSignedIn(laptop), await isSignedIn(here)]).toEqual([303, false, true]);
  });

  it("are answered by the process itself", () => {
    expect([isForm("POST", "/account/sessions/abc_-123/end"), isForm("POST", "/account/sessions/end-others")]).toEqual([
      true,
      true,
    ]);
    expect([isForm("GET", "/account/sessions/end-others"), isForm("POST", "/account/sessions/a/b/end")]).toEqual([
      false,
      false,
    ]);
  });
});

describe("an admin", () => {
  it("signs a user out everywhere, by address or id, and the user may sign in again", async () => {
    const person = await addPerson(service);
    const { here, phone, laptop } = await threeSessions(person);
    expect(await endUserSessions(service, person.userId, actor)).toEqual({ userId: person.userId, endedSessions: 3 });
    expect(await Promise.all([here, phone, laptop].map(isSignedIn))).toEqual([false, false, false]);
    expect(await lastEvent("admin.sessions_ended")).toMatchObject({
      data: { userId: person.userId, endedSessions: 3 },
    });
    expect(await isSignedIn(await signIn(service, person))).toBe(true);
    await expect(endUserSessions(service, "nobody@example.com", actor)).rejects.toMatchObject({ code: "not_found" });
    await expect(endUserSessions(service, "usr_nobody", actor)).rejects.toMatchObject({ code: "not_found" });
  });

  it("disables a user: every session ends at once, none begins, and none comes back when they are enabled", async () => {
    const person = await addPerson(service);
    const { here } = await threeSessions(person);
    expect(await disableUser(service, person.email, actor)).toMatchObject({ changed: true, endedSessions: 3 });
    expect(await isSignedIn(here)).toBe(false);
    await expect(signIn(service, person)).rejects.toMatchObject({ code: "unavailable" });
    expect(await enableUser(service, person.userId, actor)).toEqual({ userId: person.userId, changed: true });
    expect(await enableUser(service, person.userId, actor)).toEqual({ userId: person.userId, changed: false });
    expect(await lastEvent("admin.user_enabled")).toMatchObject({ data: { userId: person.userId } });
    expect([await isSignedIn(here), await isSignedIn(await signIn(service, person))]).toEqual([false, true]);
  });

  it("replaces a password: a sign-in that was under way with the old one opens nothing", async () => {
    const person = await addPerson(service);
    const { passwordHash } = await service.prisma.user.findUniqueOrThrow({ where: { id: person.userId } });
    await setPassword(service, { user: person.email, password: "another long password" }, actor);
    const late = startSession(service, { ...person, amr: ["pwd"], passwordHash });
    await expect(late).rejects.toMatchObject({ code: "unavailable" });
    expect(await service.prisma.session.count({ where: { userId: person.userId } })).toBe(0);
  });
});
