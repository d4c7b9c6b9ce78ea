import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFormApp } from "@/app/forms";
import { readNotice } from "@/lib/admin/notice";
import { appendAudit } from "@/lib/audit/append";
import { listPersonFreezes } from "@/lib/clients/list-freezes";
import { readClock } from "@/lib/database/clock";
import { setService } from "@/lib/process";
import { csrfToken } from "@/lib/sessions/csrf";
import { addPerson, addTestClient, mintApproval, type Person, signIn } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";
import { readText } from "@/test/support/html-form";

type SignedIn = Awaited<ReturnType<typeof signIn>>;

let t: TestService;
let admin: Person;
let ada: Person;
let admins: SignedIn;
let adas: SignedIn;
let clientId: string;

beforeAll(async () => {
  t = await createTestService();
  setService(t.service);
  admin = await addPerson(t.service, "Alan", ["admin"]);
  ada = await addPerson(t.service, "Ada");
  admins = await signIn(t.service, admin);
  adas = await signIn(t.service, ada);
  ({ clientId } = await addTestClient(t.service));
});
afterAll(() => t.stop());

const own = { "sec-fetch-site": "same-origin" };
const userAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";

/** Posts a form as a browser does. */
async function post(path: string, fields: Record<string, string>, headers: Record<string, string> = own) {
  const request = new Request(`http://localhost:3000${path}`, {
    method: "POST",
    headers: {
      accept: "text/html,application/xhtml+xml,*/*;q=0.8",
      "content-type": "application/x-www-form-urlencoded",
      "user-agent": userAgent,
      "x-forwarded-for": "203.0.113.7",
      ...headers,
    },
    body: new URLSearchParams(fields),
  });
  return createFormApp(t.service).fetch(request);
}

/** A form of an admin's page, with its token. */
function act(about: "client" | "user", id: string, verb: string, fields: Record<string, string> = {}, by = admins) {
  const target = `${about}:${verb}:${id}`;
  const csrf = csrfToken(t.service.secrets, { sid: by.session.sid, purpose: "admin", target });
  const path = `/admin/${about === "client" ? "clients" : "people"}/${id}/${verb}`;
  return post(path, { csrf, ...fields }, { ...own, cookie: by.cookie });
}

async function noticeOf(response: Response) {
  const cookie = (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const page = response.headers.get("location") ?? "";
  return (await readNotice(t.service, new Headers({ cookie }), { sid: admins.session.sid, page }))?.notice;
}

/** Status, words and links of a page; where it leads on instead, that. */
async function shown(response: Response): Promise<[number, string, string[]]> {
  const to = response.headers.get("location");
  if (to !== null) return [response.status, to, []];
  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
  const html = await response.text();
  return [response.status, readText(html), [...html.matchAll(/<a href="([^"]*)"/g)].map(([, href = ""]) => href)];
}

const adminForms = () =>
  [
    ["client", clientId, "cli_none", ["freeze", "unfreeze", "acknowledge", "lift-freeze"]],
    ["user", ada.userId, "usr_none", ["link", "unlink", "end-sessions", "disable", "enable"]],
  ] as const;

describe("a browser that posts a form of an admin's page gets a page, never a problem in JSON", () => {
  it("where the client or the person is not there: that page of theirs, which is the page of a miss", async () => {
    for (const [about, , unknown, verbs] of adminForms())
      for (const verb of verbs) {
        const link = { iss: "https://as.example.com", sub: randomUUID(), verified: "yes" };
        const response = await act(about, unknown, verb, { ...link, identity: `["a","b"]`, freeze: "frz_none" });
        const page = `/admin/${about === "client" ? "clients" : "people"}/${unknown}`;
        expect([verb, response.status, response.headers.get("location")]).toEqual([verb, 303, page]);
      }
  });

  it("where what it names is not there any more: back to the page, which says that nothing was changed", async () => {
    const gone = [
      await act("client", clientId, "lift-freeze", { freeze: "frz_none" }),
      await act("user", ada.userId, "unlink", { identity: JSON.stringify([ada.iss, ada.sub]) }),
      await act("user", ada.userId, "unlink", { identity: JSON.stringify([admin.iss, admin.sub]) }),
      await act("user", ada.userId, "unlink", { identity: "nonsense" }),
    ];
    expect(await Promise.all(gone.map(noticeOf))).toEqual(["gone", "gone", "gone", "gone"]);
  });

  it("where its token is old: back to the page; signed out, or with an old sign-in: to sign in and back", async () => {
    const now = await readClock(t.service.pool);
    const old = await signIn(t.service, admin, { authTime: Math.floor(now.getTime() / 1000) - 302 });
    for (const [about, id, , verbs] of adminForms())
      for (const verb of verbs) {
        const page = `/admin/${about === "client" ? "clients" : "people"}/${id}`;
        const stale = await post(`${page}/${verb}`, { csrf: "old" }, { ...own, cookie: admins.cookie });
        expect([stale.headers.get("location"), await noticeOf(stale)]).toEqual([page, "stale_form"]);
        const to = encodeURIComponent(page);
        expect(await shown(await post(`${page}/${verb}`, {}))).toEqual([303, `/signin?callbackUrl=${to}`, []]);
        expect(await shown(await act(about, id, verb, {}, old))).toEqual([303, `/account/sign-in-again?to=${to}`, []]);
      }
  });

  it("I2: who is no admin sees the same for what is there and what is not, with a way back", async () => {
    const seen = new Set<string>();
    for (const [about, known, unknown, verbs] of adminForms())
      for (const verb of verbs)
        for (const id of [known, unknown]) {
          const [status, words, links] = await shown(await act(about, id, verb, {}, adas));
          expect(links).toEqual([`/admin/${about === "client" ? "clients" : "people"}/${id}`]);
          seen.add(`${status} ${words}`);
        }
    expect([...seen]).toEqual([expect.stringMatching(/^404 Nothing here\. .* Go back$/)]);
  });
});

describe("a browser whose form is refused outright gets a page in its language, with a way back", () => {
  const paths = () => [
    [`/admin/clients/${clientId}/freeze`, `/admin/clients/${clientId}`],
    ["/account/sessions/end-others", "/account"],
    ["/account/links/unlink", "/account"],
    ["/a/apr_00000000000000000000000000/decision", "/a/apr_00000000000000000000000000"],
  ];

  it("from another site, and as anything but a form", async () => {
    for (const [path = "", back = ""] of paths()) {
      const cookie = admins.cookie;
      const foreign = await shown(await post(path, {}, { "sec-fetch-site": "cross-site", cookie }));
      expect(foreign).toEqual([403, expect.stringContaining("This did not come from a page of ours"), [back]]);
      const json = { ...own, cookie, "content-type": "application/json" };
      const unreadable = await shown(await post(path, {}, json));
      expect(unreadable).toEqual([415, expect.stringContaining("What was sent cannot be used"), [back]]);
      const ja = await shown(await post(path, {}, { ...json, "accept-language": "ja" }));
      expect(ja).toEqual([415, expect.stringContaining("送信された内容を処理できません"), [back]]);
      const chosen = { ...json, cookie: `${cookie}; countersign.locale=ja` };
      expect(await shown(await post(path, {}, chosen))).toEqual(ja);
    }
  });

  it("I2: an approval that is somebody else's, or is not there", async () => {
    const { id } = await mintApproval(await addTestClient(t.service), admin);
    for (const target of [id, "apr_00000000000000000000000000"]) {
      const csrf = csrfToken(t.service.secrets, { sid: adas.session.sid, purpose: "decide", target });
      const answer = await post(`/a/${target}/decision`, { csrf }, { ...own, cookie: adas.cookie });
      expect(await shown(answer)).toEqual([404, expect.stringMatching(/Nothing here\. .* Go back$/), [`/a/${target}`]]);
    }
  });

  it("I11: what stands in the address is text on it; it runs no script, loads nothing, and no page may frame it", async () => {
    const path = `/admin/clients/${encodeURIComponent(`"><script>alert(1)</script>`)}/freeze`;
    const response = await post(path, {}, { "sec-fetch-site": "cross-site" });
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("script-src");
    expect(await response.text()).not.toContain("<script");
    expect(response.headers.get("cache-control")).toBe("no-store");
  });

  it("a script of our pages still gets the problem", async () => {
    const headers = { "sec-fetch-site": "cross-site", accept: "*/*" };
    const response = await post("/account/passkeys/challenge", {}, headers);
    expect([response.status, await response.json()]).toEqual([
      403,
      expect.objectContaining({ code: "forbidden_origin" }),
    ]);
  });
});

describe("the history", () => {
  it("says from where an admin did each thing on a page: address and browser, as it does of sign-ins", async () => {
    const client = await addTestClient(t.service);
    const person = await addPerson(t.service, "Subject");
    const signedIn = await signIn(t.service, person);
    const { id } = await mintApproval(client, person);
    await decideAs(t.service, signedIn.session, id, "not_requested");
    const [freeze] = await listPersonFreezes(t.service.pool, { clientId: client.clientId });
    const reported = { type: "security.client_reported", clientId: client.clientId } as const;
    await appendAudit(t.service.pool, { ...reported, actor: { kind: "service" }, data: { people: 3 } });
    const { seq: alert } = (
      await t.service.pool.query<{ seq: string }>(`SELECT max("seq")::text AS "seq" FROM "audit_event"`)
    ).rows[0] ?? { seq: "" };
    const link = { iss: "https://as.example.com", sub: randomUUID() };
    await act("client", client.clientId, "acknowledge", { alert });
    await act("client", client.clientId, "lift-freeze", { freeze: freeze?.freezeId ?? "" });
    await act("client", client.clientId, "freeze");
    await act("client", client.clientId, "unfreeze");
    await act("user", person.userId, "link", { ...link, verified: "yes" });
    await act("user", person.userId, "unlink", { identity: JSON.stringify([link.iss, link.sub]) });
    await act("user", person.userId, "end-sessions");
    await act("user", person.userId, "disable");
    await act("user", person.userId, "enable");
    const { rows } = await t.service.pool.query<{ type: string; actor: object; data: object }>(
      `SELECT "type", "actor", "data" FROM "audit_event" WHERE "type" LIKE 'admin.%' AND "actor" ->> 'via' = 'page'
         AND ("client_id" = $1 OR "data" ->> 'userId' = $2) ORDER BY "seq"`,
      [client.clientId, person.userId],
    );
    expect(rows.map(({ type }) => type)).toEqual([
      "admin.alert_acknowledged",
      "admin.client_unfrozen",
      "admin.client_frozen",
      "admin.client_unfrozen",
      "admin.identity_linked",
      "admin.identity_unlinked",
      "admin.sessions_ended",
      "admin.user_disabled",
      "admin.user_enabled",
    ]);
    for (const { actor, data } of rows) {
      expect(actor).toEqual({ kind: "admin", userId: admin.userId, via: "page" });
      expect(data).toMatchObject({ address: "203.0.113.7", userAgent });
    }
    expect(rows[4]?.data).toMatchObject({ userId: person.userId, ...link });
  });
});
