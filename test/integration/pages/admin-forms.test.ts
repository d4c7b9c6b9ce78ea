import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { adminForms } from "@/app/admin/forms";
import { listAlerts } from "@/lib/admin/alerts";
import { listPeople } from "@/lib/admin/list-people";
import { noticeCookie, readNotice } from "@/lib/admin/notice";
import { readOverview } from "@/lib/admin/overview";
import { readClientForAdmin } from "@/lib/admin/read-client";
import { readPersonForAdmin } from "@/lib/admin/read-person";
import { appendAudit } from "@/lib/audit/append";
import { listPersonFreezes } from "@/lib/clients/list-freezes";
import { readClock } from "@/lib/database/clock";
import { setService } from "@/lib/process";
import { csrfToken } from "@/lib/sessions/csrf";
import { readSession } from "@/lib/sessions/read";
import { setRoles } from "@/lib/users/set-roles";
import { addPerson, addTestClient, mintApproval, mintBody, type Person, signIn } from "@/test/support/actors";
import { codeOf } from "@/test/support/codes";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";

const cli = { kind: "admin", via: "cli" } as const;
const iss = "https://as.example.com";

let t: TestService;
let admin: Person;
let ada: Person;
let admins: Awaited<ReturnType<typeof signIn>>;

beforeAll(async () => {
  t = await createTestService();
  setService(t.service);
  admin = await addPerson(t.service, "Alan", ["admin"]);
  ada = await addPerson(t.service, "Ada");
  admins = await signIn(t.service, admin);
});
afterAll(() => t.stop());

type Posting = {
  fields?: Record<string, string>;
  headers?: Record<string, string>;
  signedIn?: Awaited<ReturnType<typeof signIn>>;
  csrf?: string;
};

/** Posts the form of the admin page of this client or user. */
async function post(about: "client" | "user", id: string, verb: string, posting: Posting = {}): Promise<Response> {
  const path = about === "client" ? "/admin/clients/:id" : "/admin/people/:id";
  const { signedIn = admins, headers = { "sec-fetch-site": "same-origin" } } = posting;
  const binding = { sid: signedIn.session.sid, purpose: "admin", target: `${about}:${verb}:${id}` } as const;
  const csrf = posting.csrf ?? csrfToken(t.service.secrets, binding);
  const request = new Request(`http://localhost:3000${path.replace(":id", id)}/${verb}`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", cookie: signedIn.cookie, ...headers },
    body: new URLSearchParams({ csrf, ...posting.fields }),
  });
  const handler = adminForms[`${path}/${verb}`];
  if (!handler) throw new Error(`no form ${verb}`);
  return handler(request, { id });
}

/** What the next page would say to the admin. */
async function said(response: Response, signedIn = admins) {
  const cookie = (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const page = response.headers.get("location") ?? "";
  return readNotice(t.service, new Headers({ cookie }), { sid: signedIn.session.sid, page });
}
const noticeOf = async (response: Response) => (await said(response))?.notice;

const adminEvents = async (where: string, value: string) =>
  (
    await t.service.pool.query<{ type: string; actor: object }>(
      `SELECT "type", "actor" FROM "audit_event" WHERE "type" LIKE 'admin.%' AND "actor" ->> 'via' = 'page' AND ${where} = $1 ORDER BY "seq"`,
      [value],
    )
  ).rows;
const byAdmin = (type: string) => ({ type, actor: { kind: "admin", userId: admin.userId, via: "page" } });

async function old(person: Person, seconds: number) {
  const now = await readClock(t.service.pool);
  return signIn(t.service, person, { authTime: Math.floor(now.getTime() / 1000) - seconds });
}

describe("who may act", () => {
  it("an admin alone: for everybody else, and for those who were one, there is nothing here, whatever the token", async () => {
    const { clientId } = await addTestClient(t.service);
    const auditor = await addPerson(t.service, "Iris", ["auditor"]);
    const former = await addPerson(t.service, "Fred", ["admin"]);
    const formers = await signIn(t.service, former);
    await setRoles(t.service, { user: former.userId, roles: [] }, cli);
    for (const signedIn of [await signIn(t.service, ada), await signIn(t.service, auditor), formers])
      for (const [about, id, verb] of [
        ["client", clientId, "freeze"],
        ["client", clientId, "unfreeze"],
        ["client", clientId, "acknowledge"],
        ["client", clientId, "lift-freeze"],
        ["user", ada.userId, "link"],
        ["user", ada.userId, "unlink"],
        ["user", ada.userId, "end-sessions"],
        ["user", ada.userId, "disable"],
        ["user", ada.userId, "enable"],
      ] as const)
        for (const csrf of [undefined, "nonsense"]) {
          const response = await post(about, id, verb, { signedIn, ...(csrf ? { csrf } : {}) });
          expect([verb, ...(await codeOf(response))]).toEqual([verb, 404, "not_found"]);
        }
    expect(await adminEvents(`"client_id"`, clientId)).toEqual([]);
  });

  it("I17: a role that was written into the row without the secret makes no admin", async () => {
    const eve = await addPerson(t.service, "Eve");
    await t.service.pool.query(`UPDATE "user" SET "roles" = '{admin}' WHERE "id" = $1`, [eve.userId]);
    const signedIn = await signIn(t.service, eve);
    expect((await post("user", ada.userId, "disable", { signedIn })).status).toBe(404);
    expect(await readOverview(t.service, signedIn.session)).toBeUndefined();
  });

  it("with a sign-in of the last 300 s, by the database's clock; else they sign in again, and nothing is done", async () => {
    const { clientId } = await addTestClient(t.service);
    const stale = await post("client", clientId, "freeze", { signedIn: await old(admin, 302) });
    expect([stale.status, stale.headers.get("location")]).toEqual([
      303,
      `/account/sign-in-again?to=${encodeURIComponent(`/admin/clients/${clientId}`)}`,
    ]);
    expect((await readClientForAdmin(t.service, admins.session, clientId))?.client.isFrozen).toBe(false);
    expect((await post("client", clientId, "freeze", { signedIn: await old(admin, 290) })).status).toBe(303);
    expect((await readClientForAdmin(t.service, admins.session, clientId))?.client.isFrozen).toBe(true);
  });

  it("I1: from our own page, with the token of this session, purpose, act and client or user", async () => {
    const { clientId } = await addTestClient(t.service);
    const other = await addTestClient(t.service);
    for (const headers of [{ "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "none" }, { origin: "null" }])
      expect((await post("client", clientId, "freeze", { headers })).status).toBe(403);
    const { sid } = admins.session;
    const again = await signIn(t.service, admin);
    for (const csrf of [
      "",
      csrfToken(t.service.secrets, { sid, purpose: "admin", target: `client:freeze:${other.clientId}` }),
      csrfToken(t.service.secrets, { sid, purpose: "admin", target: `client:unfreeze:${clientId}` }),
      csrfToken(t.service.secrets, { sid, purpose: "admin", target: `user:freeze:${clientId}` }),
      csrfToken(t.service.secrets, { sid, purpose: "account", target: `client:freeze:${clientId}` }),
      csrfToken(t.service.secrets, { sid: again.session.sid, purpose: "admin", target: `client:freeze:${clientId}` }),
    ])
      expect(await noticeOf(await post("client", clientId, "freeze", { csrf }))).toBe("stale_form");
    expect(await adminEvents(`"client_id"`, clientId)).toEqual([]);
  });
});

describe("a client", () => {
  it("is frozen for everybody and let go again, by the admin whom the history names", async () => {
    const { clientId, api } = await addTestClient(t.service);
    const mint = () => codeOf(api("POST", "/approvals", mintBody(ada)));
    expect(await noticeOf(await post("client", clientId, "freeze"))).toBe("frozen");
    expect(await mint()).toEqual([403, "frozen"]);
    expect(await noticeOf(await post("client", clientId, "unfreeze"))).toBe("unfrozen");
    expect(await mint()).toEqual([201, "ok"]);
    expect(await adminEvents(`"client_id"`, clientId)).toEqual([
      byAdmin("admin.client_frozen"),
      byAdmin("admin.client_unfrozen"),
    ]);
    expect(await codeOf(await post("client", "cli_none", "freeze"))).toEqual([404, "not_found"]);
  });

  it("while the approvals stay locked the page says that it is busy, and nothing is frozen", async () => {
    const { clientId } = await addTestClient(t.service);
    const holder = await t.service.pool.connect();
    try {
      await holder.query(`BEGIN; LOCK TABLE "approval" IN ROW EXCLUSIVE MODE`);
      expect(await noticeOf(await post("client", clientId, "freeze"))).toBe("busy");
    } finally {
      await holder.query("ROLLBACK");
      holder.release();
    }
    expect((await readClientForAdmin(t.service, admins.session, clientId))?.client.isFrozen).toBe(false);
  });

  it("shows who has frozen it for themselves, and an admin lifts that for one of them", async () => {
    const client = await addTestClient(t.service);
    const { clientId } = client;
    const { session } = await signIn(t.service, ada);
    const { id } = await mintApproval(client, ada);
    await decideAs(t.service, session, id, "not_requested");
    const shown = await readClientForAdmin(t.service, admins.session, clientId);
    const freeze = shown?.freezes[0]?.freezeId ?? "";
    expect(shown).toMatchObject({
      client: { frozenByPeople: 1, isFrozen: false },
      freezes: [{ subject: { iss: ada.iss, sub: ada.sub }, user: { account: ada.email } }],
    });
    const elsewhere = await addTestClient(t.service);
    expect((await post("client", elsewhere.clientId, "lift-freeze", { fields: { freeze } })).status).toBe(404);
    expect(await noticeOf(await post("client", clientId, "lift-freeze", { fields: { freeze } }))).toBe("freeze_lifted");
    expect(await listPersonFreezes(t.service.pool, { clientId })).toEqual([]);
    expect(await adminEvents(`"client_id"`, clientId)).toEqual([byAdmin("admin.client_unfrozen")]);
  });

  it("shows what looked wrong of late, without a value of an argument, and an alert until it is acknowledged", async () => {
    const client = await addTestClient(t.service);
    const { clientId } = client;
    const { session } = await signIn(t.service, ada);
    const { id } = await mintApproval(client, ada, { requirements: { matchCode: true } });
    for (let i = 0; i < 3; i += 1) await decideAs(t.service, session, id, "accept", { code: "00" });
    const service = { kind: "service" } as const;
    await appendAudit(t.service.pool, {
      type: "security.client_reported",
      clientId,
      actor: service,
      data: { people: 3 },
    });
    const shown = await readClientForAdmin(t.service, admins.session, clientId);
    expect(shown?.events).toMatchObject([
      { type: "security.client_reported", user: undefined },
      { type: "security.match_failed", tool: "delete_project", user: { userId: ada.userId, account: ada.email } },
    ]);
    const alert = shown?.alert?.seq ?? "";
    expect((await readOverview(t.service, admins.session))?.alerts).toMatchObject([{ clientId, people: 3 }]);
    expect(await noticeOf(await post("client", clientId, "acknowledge", { fields: { alert } }))).toBe("acknowledged");
    expect(await listAlerts(t.service.pool)).toEqual([]);
    expect(await adminEvents(`"client_id"`, clientId)).toEqual([byAdmin("admin.alert_acknowledged")]);
  });
});

describe("a person", () => {
  const link = { iss, sub: "user_456" };

  it("is linked to another identity once the admin has verified it, and unlinked at once", async () => {
    const person = await addPerson(t.service, "Linked");
    const unverified = await post("user", person.userId, "link", { fields: link });
    // What was typed is still there on the page.
    expect(await said(unverified)).toEqual({ notice: "link_unverified", link });
    const verified = { verified: "yes" };
    const spaced = { iss: ` ${iss} `, sub: "user_456\n" };
    const linked = await post("user", person.userId, "link", { fields: { ...spaced, ...verified } });
    expect(await noticeOf(linked)).toBe("linked");
    const shown = await readPersonForAdmin(t.service, admins.session, person.userId);
    expect(shown?.identities).toMatchObject([
      { linkedBy: "self", isAdminLink: false },
      { ...link, linkedBy: "admin", isAdminLink: true, lastSignInAt: null },
    ]);
    const taken = await post("user", ada.userId, "link", { fields: { ...link, ...verified } });
    expect(await said(taken)).toEqual({ notice: "link_taken", link });
    const fields = { identity: JSON.stringify([link.iss, link.sub]) };
    expect(await noticeOf(await post("user", person.userId, "unlink", { fields }))).toBe("unlinked");
    expect((await readPersonForAdmin(t.service, admins.session, person.userId))?.identities).toHaveLength(1);
    expect(await adminEvents(`"data" ->> 'userId'`, person.userId)).toEqual([
      byAdmin("admin.identity_linked"),
      byAdmin("admin.identity_unlinked"),
    ]);
    for (const identity of ["", "[]", "{}", `["a"]`, `["a","b","c"]`])
      expect((await post("user", person.userId, "unlink", { fields: { identity } })).status).toBe(400);
  });

  it("an admin links nothing to themself, and disables others only", async () => {
    const fields = { iss, sub: "mine", verified: "yes" };
    expect(await said(await post("user", admin.userId, "link", { fields }))).toEqual({
      notice: "link_self",
      link: { iss, sub: "mine" },
    });
    expect(await noticeOf(await post("user", admin.userId, "disable"))).toBe("disable_self");
    expect(await readPersonForAdmin(t.service, admins.session, admin.userId)).toMatchObject({
      isSelf: true,
      disabledAt: null,
      identities: [{ linkedBy: "self" }],
    });
  });

  it("is signed out everywhere, disabled and enabled again, at once", async () => {
    const person = await addPerson(t.service, "Stopped");
    const [first, second] = [await signIn(t.service, person), await signIn(t.service, person)];
    const holds = async () =>
      (await Promise.all([first, second].map(({ cookie }) => readSession(t.service, new Headers({ cookie }))))).map(
        (session) => session !== undefined,
      );
    const shown = () => readPersonForAdmin(t.service, admins.session, person.userId);
    expect(await shown()).toMatchObject({ sessions: 2, passkeys: 0, hasPassword: true, isSelf: false });
    expect(await noticeOf(await post("user", person.userId, "end-sessions"))).toBe("sessions_ended");
    expect([await holds(), (await shown())?.sessions]).toEqual([[false, false], 0]);
    const third = await signIn(t.service, person);
    expect(await noticeOf(await post("user", person.userId, "disable"))).toBe("disabled");
    expect(await readSession(t.service, new Headers({ cookie: third.cookie }))).toBeUndefined();
    expect((await shown())?.disabledAt).toBeInstanceOf(Date);
    expect(await noticeOf(await post("user", person.userId, "enable"))).toBe("enabled");
    expect(await shown()).toMatchObject({ disabledAt: null, sessions: 0 });
    expect((await adminEvents(`"data" ->> 'userId'`, person.userId)).map(({ type }) => type)).toEqual([
      "admin.sessions_ended",
      "admin.user_disabled",
      "admin.user_enabled",
    ]);
  });
});

describe("what an admin sees", () => {
  it("nobody else does: no overview, no client, no person, no list", async () => {
    const { clientId } = await addTestClient(t.service);
    const auditor = await signIn(t.service, await addPerson(t.service, "Ines", ["auditor"]));
    for (const { session } of [await signIn(t.service, ada), auditor])
      expect([
        await readOverview(t.service, session),
        await readClientForAdmin(t.service, session, clientId),
        await readPersonForAdmin(t.service, session, ada.userId),
        await listPeople(t.service, session),
      ]).toEqual([undefined, undefined, undefined, undefined]);
    const { session } = admins;
    expect(await readClientForAdmin(t.service, session, "cli_none")).toBeUndefined();
    for (const id of ["usr_none", "nul\u0000"])
      expect(await readPersonForAdmin(t.service, session, id)).toBeUndefined();
  });

  it("the people page by page, by name, without a gap or a repeat; another admin's cursor opens nothing of it", async () => {
    const names = Array.from({ length: 120 }, (_, i) => `Page ${String(i % 40).padStart(2, "0")}`);
    await t.service.prisma.user.createMany({
      data: names.map((name, i) => ({ id: `usr_page_${String(i).padStart(3, "0")}`, name })),
    });
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await listPeople(t.service, admins.session, { search: "page", ...(cursor ? { cursor } : {}) });
      seen.push(...(page?.people ?? []).map(({ name, userId }) => `${name} ${userId}`));
      cursor = page?.nextCursor;
    } while (cursor);
    expect(seen).toHaveLength(120);
    expect(seen).toEqual([...new Set(seen)].sort());
    const { nextCursor } = (await listPeople(t.service, admins.session, { search: "page" })) ?? {};
    const other = await signIn(t.service, await addPerson(t.service, "Anna", ["admin"]));
    const foreign = await listPeople(t.service, other.session, { search: "page", cursor: nextCursor ?? "" });
    expect(foreign?.people[0]?.userId).toBe("usr_page_000");
  });

  it("finds a person by a part of name or address in any case, and by a whole id or sub; no letter is a wild card", async () => {
    const person = await addPerson(t.service, "Wanda");
    await t.service.pool.query(`UPDATE "user" SET "name" = 'Wanda_100%' WHERE "id" = $1`, [person.userId]);
    const found = async (search: string) =>
      (await listPeople(t.service, admins.session, { search }))?.people.map(({ userId }) => userId);
    for (const search of ["wanda_", "WANDA_100%", " _100% ", person.email.slice(0, 12), person.userId, person.sub])
      expect([search, await found(search)]).toEqual([search, [person.userId]]);
    for (const search of ["w%a_100", "wandax100", person.userId.slice(0, -1), "nobody", "wanda\\"])
      expect([search, await found(search)]).toEqual([search, []]);
    expect(await found("wanda\u0000_")).toEqual([person.userId]);
    const listed = (await listPeople(t.service, admins.session, { search: admin.userId }))?.people;
    expect(listed).toMatchObject([{ roles: ["admin"], isDisabled: false, lastSignInAt: expect.any(Date) }]);
  });
});

describe("the notice for the next page", () => {
  it("is for this session and page, for the admin pages alone, and forgets a link that no cookie can hold", async () => {
    const response = await post("user", ada.userId, "link", { fields: { iss: "i".repeat(3_000), sub: "s" } });
    const cookie = response.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/^countersign\.admin-notice=[^;]+; Path=\/admin; Max-Age=120; HttpOnly; SameSite=Lax$/);
    expect(await said(response)).toEqual({ notice: "link_unverified", link: undefined });
    const headers = new Headers({ cookie: cookie.split(";")[0] ?? "" });
    const page = `/admin/people/${ada.userId}`;
    const { sid } = admins.session;
    expect(await readNotice(t.service, headers, { sid, page: "/admin" })).toBeUndefined();
    expect(await readNotice(t.service, headers, { sid: "ses_other", page })).toBeUndefined();
    expect(await readNotice(t.service, headers, { sid, page })).toBeDefined();
  });

  it("is shown for two minutes, also where a browser keeps its cookie for longer", async () => {
    const response = await post("user", ada.userId, "link");
    try {
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 110_000 });
      expect(await noticeOf(response)).toBe("link_unverified");
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 11_000 });
      expect(await noticeOf(response)).toBeUndefined();
    } finally {
      vi.useRealTimers();
    }
  });

  it("is sent on https alone where the service is", async () => {
    const https = { ...t.service, config: { ...t.service.config, url: "https://approve.example.com" } };
    const set = await noticeCookie(https, { sid: admins.session.sid, page: "/admin" }, "frozen");
    expect(set).toMatch(/; Path=\/admin; Max-Age=120; HttpOnly; SameSite=Lax; Secure$/);
  });
});
