import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { post as decision } from "@/app/a/[id]/decision/post";
import { post as liftCooldown } from "@/app/a/[id]/lift-cooldown/post";
import { post as stepUp } from "@/app/a/[id]/sign-in-again/submit/post";
import { post as takeBack } from "@/app/a/[id]/take-back/post";
import { createFormApp } from "@/app/forms";
import type { DecisionForm } from "@/lib/approvals/decision-form";
import { setService } from "@/lib/process";
import { readFlash, stepUpTarget } from "@/lib/requests/flash";
import { csrfToken } from "@/lib/sessions/csrf";
import { readSession } from "@/lib/sessions/read";
import { buildView } from "@/lib/views/build";
import { stampOf, viewDigestOf } from "@/lib/views/stamp";
import {
  addPerson,
  addTestClient,
  canary,
  mintApproval,
  mintBody,
  type Person,
  password,
  signIn,
  type TestClient,
} from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { formFor, viewDigestFor } from "@/test/support/deciding";

let t: TestService;
let client: TestClient;
let ada: Person;
let eve: Person;
let adas: Awaited<ReturnType<typeof signIn>>;
let eves: Awaited<ReturnType<typeof signIn>>;

beforeAll(async () => {
  t = await createTestService();
  setService(t.service);
  client = await addTestClient(t.service, {
    maxMintsPerSubjectPerHour: 1_000,
    maxPendingPerSubject: 500,
    declineCooldownSeconds: 600,
  });
  ada = await addPerson(t.service);
  eve = await addPerson(t.service, "Eve");
  adas = await signIn(t.service, ada);
  eves = await signIn(t.service, eve);
});
afterAll(() => t.stop());

const sameOrigin = { "sec-fetch-site": "same-origin" };
type Fields = Record<string, string>;

const fieldsOf = (form: DecisionForm): Fields => ({
  ...(form.choice ? { decision: form.choice } : {}),
  csrf: form.csrf,
  stamp: form.stamp,
  locale: form.locale,
  renderedAt: String(form.renderedAt),
  code: form.code,
  read: form.hasRead ? "yes" : "",
  note: form.note,
});

type Handler = typeof decision;

function submit(
  id: string,
  fields: Fields,
  headers: Record<string, string> = {},
  cookie = adas.cookie,
  handler: Handler = decision,
): Promise<Response> {
  const request = new Request(`http://localhost:3000/a/${id}/decision`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", cookie, ...sameOrigin, ...headers },
    body: new URLSearchParams(fields),
  });
  return handler(request, { id });
}

const statusOf = async (id: string) =>
  (await t.service.pool.query<{ status: string }>(`SELECT "status" FROM "approval" WHERE "id" = $1`, [id])).rows[0]
    ?.status;

/** What the next page would say to this session. */
async function said(response: Response, id: string, session = adas.session): Promise<string | undefined> {
  const cookie = (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  return (await readFlash(t.service, new Headers({ cookie }), { sid: session.sid, target: id }))?.notice;
}

async function accepting(id: string, change: Partial<DecisionForm> = {}): Promise<Fields> {
  return fieldsOf(await formFor(t.service, adas.session, id, "accept", change));
}

describe("the decision route", () => {
  it("I1: decides for the subject, with 303 back to the page", async () => {
    const { id } = await mintApproval(client, ada);
    const response = await submit(id, await accepting(id));
    expect([response.status, response.headers.get("location"), await statusOf(id)]).toEqual([
      303,
      `/a/${id}`,
      "accepted",
    ]);
  });

  it.each([
    ["cross-site", { "sec-fetch-site": "cross-site" }],
    ["same-site", { "sec-fetch-site": "same-site" }],
    ["typed in the address bar", { "sec-fetch-site": "none" }],
    ["with Origin null", { "sec-fetch-site": "", origin: "null" }],
    ["from another origin, by an old browser", { "sec-fetch-site": "", origin: "http://localhost:3001" }],
  ])("I1: a POST %s decides nothing", async (_name, headers) => {
    const { id } = await mintApproval(client, ada);
    const fields = await accepting(id);
    const response = await submit(id, fields, headers);
    expect([response.status, await statusOf(id)]).toEqual([403, "pending"]);
  });

  it("I1: without Sec-Fetch-Site and Origin nothing is decided; with our own Origin alone it is", async () => {
    const { id } = await mintApproval(client, ada);
    const fields = await accepting(id);
    const send = (headers: Record<string, string>) => {
      const request = new Request(`http://localhost:3000/a/${id}/decision`, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded", cookie: adas.cookie, ...headers },
        body: new URLSearchParams(fields),
      });
      return decision(request, { id });
    };
    expect([(await send({})).status, await statusOf(id)]).toEqual([403, "pending"]);
    expect([(await send({ origin: "http://localhost:3000" })).status, await statusOf(id)]).toEqual([303, "accepted"]);
  });

  it("I9: what stays in a receipt does not let anybody find an argument by trying values", async () => {
    const { id } = await mintApproval(client, ada, { action: { tool: "pay", arguments: { amount: 471 } } });
    await submit(id, await accepting(id, { choice: "decline" }));
    const { rows } = await t.service.pool.query(`SELECT "receipt", "expires_at" FROM "approval" WHERE "id" = $1`, [id]);
    const { view_digest } = JSON.parse(Buffer.from(rows[0].receipt.split(".")[1], "base64url").toString());
    const { caller, presentation } = mintBody(ada);
    const exp = rows[0].expires_at.getTime() / 1000;
    const guess = (amount: number, salt: string) => {
      const record = {
        view_version: 1,
        client_name: "CRM server",
        caller,
        presentation,
        exp,
        action: { tool: "pay", arguments: { amount } },
      };
      return viewDigestOf(buildView(record as never, "en"), salt);
    };
    expect(Array.from({ length: 1_000 }, (_, amount) => guess(amount, ""))).not.toContain(view_digest);
  });

  it("a note that cannot be kept is refused by name, and a malformed id is answered as an unknown one (I2)", async () => {
    const { id } = await mintApproval(client, ada);
    const response = await submit(id, await accepting(id, { choice: "decline", note: "a\u0000b" }));
    expect([response.status, await statusOf(id)]).toEqual([303, "pending"]);
    const headers = {
      cookie: adas.cookie,
      ...sameOrigin,
      accept: "text/html",
      "content-type": "application/x-www-form-urlencoded",
    };
    const ask = async (path: string) => {
      const request = new Request(`http://localhost:3000/a/${path}`, { method: "POST", headers, body: "csrf=x" });
      return (await createFormApp(t.service).fetch(request)).status;
    };
    for (const form of ["decision", "challenge", "take-back", "lift-cooldown"])
      for (const odd of ["%E6%97%A5", "%00", "x%0d%0ay", "a%2f..%2f..%2fsignin"])
        expect(await ask(`${odd}/${form}`)).toBe(await ask(`apr_00000000000000000000000000/${form}`));
  });

  it("I1: a CSRF token that is missing, or of another session, approval or purpose, decides nothing", async () => {
    const [{ id }, other] = [await mintApproval(client, ada), await mintApproval(client, ada)];
    const { sid } = adas.session;
    const tokens = [
      "",
      "nonsense",
      csrfToken(t.service.secrets, { sid: eves.session.sid, purpose: "decide", target: id }),
      csrfToken(t.service.secrets, { sid, purpose: "decide", target: other.id }),
      csrfToken(t.service.secrets, { sid, purpose: "take_back", target: id }),
    ];
    for (const csrf of tokens) expect((await submit(id, await accepting(id, { csrf }))).status).toBe(403);
    const browser = await submit(id, await accepting(id, { csrf: tokens[0] ?? "" }), { accept: "text/html,*/*" });
    expect([browser.status, browser.headers.get("location"), await statusOf(id)]).toEqual([303, `/a/${id}`, "pending"]);
    expect(await statusOf(id)).toBe("pending");
  });

  it("I2: another signed-in person gets the answer of an unknown id, decides nothing, and the subject still can", async () => {
    const { id } = await mintApproval(client, ada);
    const fields = await accepting(id, {
      csrf: csrfToken(t.service.secrets, { sid: eves.session.sid, purpose: "decide", target: id }),
    });
    const unknown = "apr_00000000000000000000000000";
    const answers = await Promise.all(
      [id, unknown, "nonsense"].map(async (target) => {
        const csrf = csrfToken(t.service.secrets, { sid: eves.session.sid, purpose: "decide", target });
        const response = await submit(target, { ...fields, csrf }, {}, eves.cookie);
        const { instance: _instance, ...problem } = (await response.json()) as Record<string, unknown>;
        return JSON.stringify([response.status, problem]);
      }),
    );
    expect([new Set(answers).size, answers[0]]).toEqual([1, expect.stringContaining("404")]);
    expect((await submit(id, await accepting(id))).status).toBe(303);
    expect(await statusOf(id)).toBe("accepted");
  });

  it("I2: an equal sub under another issuer, and an equal e-mail address, are somebody else", async () => {
    const foreign = await addTestClient(t.service, { issuers: ["https://as.example.com"] });
    for (const sub of [ada.sub, ada.email]) {
      const { id } = await mintApproval(foreign, { iss: "https://as.example.com", sub });
      const csrf = csrfToken(t.service.secrets, { sid: adas.session.sid, purpose: "decide", target: id });
      expect([(await submit(id, { decision: "accept", csrf })).status, await statusOf(id)]).toEqual([404, "pending"]);
    }
  });

  it("I3: a stamp of another view, locale, session or moment decides nothing, and the page asks to be read again", async () => {
    const [{ id }, other] = [
      await mintApproval(client, ada),
      await mintApproval(client, ada, { presentation: { title: "Harmless" } }),
    ];
    const good = await accepting(id);
    const ofOther = await formFor(t.service, adas.session, other.id, "accept");
    const forged = stampOf(t.service.secrets, {
      approvalId: id,
      sid: eves.session.sid,
      viewDigest: `sha256:${"0".repeat(64)}`,
      locale: "en",
      renderedAt: Number(good["renderedAt"]),
    });
    const wrong: Fields[] = [
      { ...good, stamp: "" },
      { ...good, stamp: forged },
      { ...good, stamp: ofOther.stamp, renderedAt: String(ofOther.renderedAt) },
      { ...good, renderedAt: String(Number(good["renderedAt"]) - 1) },
      { ...good, locale: "ja" },
    ];
    for (const fields of wrong) expect(await said(await submit(id, fields), id)).toBe("view_changed");
    expect(await statusOf(id)).toBe("pending");
  });

  it("accept without the required box, without the code, too fast, or with too long a note decides nothing and says why", async () => {
    const { id } = await mintApproval(client, ada);
    expect(await said(await submit(id, await accepting(id, { hasRead: false })), id)).toBe("read_missing");
    expect(await said(await submit(id, await accepting(id, { note: "x".repeat(501) })), id)).toBe("note_too_long");
    const { choice: _choice, ...undecided } = await formFor(t.service, adas.session, id, "accept");
    expect(await said(await submit(id, fieldsOf({ ...undecided, choice: undefined })), id)).toBe("choose");
    const { rows } = await t.service.pool.query<{ ms: number }>(
      `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000) AS ms`,
    );
    const form = await formFor(t.service, adas.session, id, "accept");
    const viewDigest = await viewDigestFor(t.service, adas.session, id);
    const renderedAt = Number(rows[0]?.ms);
    const fresh = {
      ...form,
      renderedAt,
      stamp: stampOf(t.service.secrets, {
        approvalId: id,
        sid: adas.session.sid,
        viewDigest,
        locale: "en",
        renderedAt,
      }),
    };
    expect(await said(await submit(id, fieldsOf(fresh)), id)).toBe("too_fast");
    expect(await statusOf(id)).toBe("pending");
  });

  it("the code opens Approve, a wrong one does not, and the third wrong one withdraws the approval", async () => {
    const body = { requirements: { matchCode: true } };
    const [right, wrong] = [await mintApproval(client, ada, body), await mintApproval(client, ada, body)];
    expect(await said(await submit(right.id, await accepting(right.id)), right.id)).toBe("code_missing");
    expect((await submit(right.id, await accepting(right.id, { code: ` ${right.matchCode} ` }))).status).toBe(303);
    expect(await statusOf(right.id)).toBe("accepted");
    const guess = String(10 + ((Number(wrong.matchCode) - 9) % 90));
    for (let i = 0; i < 3; i += 1) await submit(wrong.id, await accepting(wrong.id, { code: guess }).catch(() => ({})));
    expect(await statusOf(wrong.id)).toBe("withdrawn");
    const { rows } = await t.service.pool.query(
      `SELECT "type" FROM "audit_event" WHERE "approval_id" = $1 ORDER BY "seq"`,
      [wrong.id],
    );
    expect(rows.map((row) => row.type)).toEqual(["approval.minted", "approval.withdrawn", "security.match_failed"]);
  });

  it("a decline and a close need neither code nor box", async () => {
    for (const choice of ["decline", "cancel"] as const) {
      const { id } = await mintApproval(client, ada, {
        requirements: { matchCode: true },
        action: { tool: choice, arguments: {} },
      });
      await submit(id, fieldsOf(await formFor(t.service, adas.session, id, choice, { hasRead: false })));
      expect(await statusOf(id)).toBe(choice === "decline" ? "declined" : "cancelled");
    }
  });

  it("what was typed as a note comes back with the notice, the code never does, and only to this session", async () => {
    const { id } = await mintApproval(client, ada, { requirements: { matchCode: true } });
    const response = await submit(id, await accepting(id, { code: "00", note: canary }));
    const cookie = response.headers.get("set-cookie") ?? "";
    const headers = new Headers({ cookie: cookie.split(";")[0] ?? "" });
    expect(cookie).not.toContain(canary);
    expect(cookie).toMatch(/HttpOnly; SameSite=Lax$/);
    expect(await readFlash(t.service, headers, { sid: adas.session.sid, target: id })).toEqual({
      notice: "code_wrong",
      note: canary,
    });
    expect(await readFlash(t.service, headers, { sid: eves.session.sid, target: id })).toBeUndefined();
    expect(
      await readFlash(t.service, headers, { sid: adas.session.sid, target: "apr_00000000000000000000000000" }),
    ).toBeUndefined();
  });

  it("signed out, with a JSON body, or too large a body, nothing is decided", async () => {
    const { id } = await mintApproval(client, ada);
    const fields = await accepting(id);
    const out = await submit(id, fields, {}, "");
    expect([out.status, out.headers.get("location")]).toEqual([
      303,
      `/signin?callbackUrl=${encodeURIComponent(`/a/${id}`)}`,
    ]);
    expect((await submit(id, fields, { "content-type": "application/json" })).status).toBe(415);
    expect((await submit(id, { ...fields, note: "x".repeat(70_000) })).status).toBe(415);
    expect(await statusOf(id)).toBe("pending");
  });

  it("a second decision changes nothing: the same one is the stored result, another is told so", async () => {
    const { id } = await mintApproval(client, ada);
    const [accept, decline] = [await accepting(id), fieldsOf(await formFor(t.service, adas.session, id, "decline"))];
    await submit(id, accept);
    expect(await said(await submit(id, accept), id)).toBeUndefined();
    expect(await said(await submit(id, decline), id)).toBe("already_decided");
    expect(await statusOf(id)).toBe("accepted");
  });
});

describe("freshness of the sign-in (section 8)", () => {
  it("one second too old is refused at POST though the page was opened in time; the same person's password mends it", async () => {
    const strict = await addTestClient(t.service, { default: { maxAuthAgeSeconds: 60 } });
    const { id } = await mintApproval(strict, ada);
    const now = Math.floor(Date.now() / 1000);
    const old = await signIn(t.service, ada, { authTime: now - 61 });
    const form = fieldsOf(await formFor(t.service, old.session, id, "accept"));
    const response = await submit(id, form, {}, old.cookie);
    expect([response.status, response.headers.get("location"), await statusOf(id)]).toEqual([
      303,
      `/a/${id}/sign-in-again`,
      "pending",
    ]);
    const csrf = csrfToken(t.service.secrets, { sid: old.session.sid, purpose: "step_up", target: id });
    const proved = await submit(id, { csrf, password }, {}, old.cookie, stepUp);
    const cookie = (proved.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const fresh = await readSession(t.service, new Headers({ cookie }));
    expect(fresh).toMatchObject({ userId: ada.userId, stepUpFor: id, startedAt: old.session.startedAt });
    expect(await readSession(t.service, new Headers({ cookie: old.cookie }))).toBeUndefined();
    if (!fresh) throw new Error("no session");
    await submit(id, fieldsOf(await formFor(t.service, fresh, id, "accept")), {}, cookie);
    expect(await statusOf(id)).toBe("accepted");
  });

  it("maxAuthAgeSeconds 0 wants a step-up for this very approval, however fresh the sign-in", async () => {
    const strict = await addTestClient(t.service, { default: { maxAuthAgeSeconds: 0 } });
    const [first, second] = [await mintApproval(strict, ada), await mintApproval(strict, ada)];
    const forFirst = await signIn(t.service, ada, { stepUpFor: first.id });
    expect(
      (
        await submit(
          second.id,
          fieldsOf(await formFor(t.service, forFirst.session, second.id, "accept")),
          {},
          forFirst.cookie,
        )
      ).headers.get("location"),
    ).toBe(`/a/${second.id}/sign-in-again`);
    await submit(
      first.id,
      fieldsOf(await formFor(t.service, forFirst.session, first.id, "accept")),
      {},
      forFirst.cookie,
    );
    expect([await statusOf(first.id), await statusOf(second.id)]).toEqual(["accepted", "pending"]);
  });

  it("I16: asking for 0 is never weaker than the age that the policy allows: an old step-up for this approval is too old", async () => {
    const strict = await addTestClient(t.service, { default: { maxAuthAgeSeconds: 60 } });
    const { id } = await mintApproval(strict, ada, { requirements: { maxAuthAgeSeconds: 0 } });
    const old = await signIn(t.service, ada, { stepUpFor: id, authTime: Math.floor(Date.now() / 1000) - 61 });
    const form = fieldsOf(await formFor(t.service, old.session, id, "accept"));
    expect((await submit(id, form, {}, old.cookie)).headers.get("location")).toBe(`/a/${id}/sign-in-again`);
    expect(await statusOf(id)).toBe("pending");
  });

  it("another person's step-up, a wrong password and a foreign token change no session", async () => {
    const { id } = await mintApproval(client, ada);
    const csrf = (sid: string) => csrfToken(t.service.secrets, { sid, purpose: "step_up", target: id });
    expect((await submit(id, { csrf: csrf(eves.session.sid), password }, {}, eves.cookie, stepUp)).status).toBe(404);
    expect((await submit(id, { csrf: csrf(eves.session.sid), password }, {}, adas.cookie, stepUp)).status).toBe(403);
    const wrong = await submit(
      id,
      { csrf: csrf(adas.session.sid), password: "not the password at all" },
      {},
      adas.cookie,
      stepUp,
    );
    expect([wrong.status, wrong.headers.get("location"), await said(wrong, stepUpTarget(id))]).toEqual([
      303,
      `/a/${id}/sign-in-again`,
      "wrong_password",
    ]);
    expect(await readSession(t.service, new Headers({ cookie: adas.cookie }))).toBeDefined();
  });
});

describe("taking back and letting ask again", () => {
  it("works for the subject with the token of that purpose, and for nobody else", async () => {
    const { id } = await mintApproval(client, ada, { action: { tool: "tb", arguments: {} } });
    await submit(id, await accepting(id));
    const csrf = csrfToken(t.service.secrets, { sid: adas.session.sid, purpose: "take_back", target: id });
    expect((await submit(id, { csrf: "" }, {}, adas.cookie, takeBack)).status).toBe(403);
    expect((await submit(id, { csrf }, {}, eves.cookie, takeBack)).status).toBe(403);
    expect((await submit(id, { csrf }, { "sec-fetch-site": "cross-site" }, adas.cookie, takeBack)).status).toBe(403);
    expect(await statusOf(id)).toBe("accepted");
    expect((await submit(id, { csrf }, {}, adas.cookie, takeBack)).status).toBe(303);
    expect(await statusOf(id)).toBe("withdrawn");
  });

  it("a declined action may be asked again once its person says so", async () => {
    const body = { action: { tool: "again", arguments: {} } };
    const { id } = await mintApproval(client, ada, body);
    await submit(id, fieldsOf(await formFor(t.service, adas.session, id, "decline")));
    await expect(mintApproval(client, ada, body)).rejects.toThrow(/recently_declined/);
    const csrf = csrfToken(t.service.secrets, { sid: adas.session.sid, purpose: "lift_cooldown", target: id });
    expect(await said(await submit(id, { csrf }, {}, adas.cookie, liftCooldown), id)).toBe("lifted");
    expect((await mintApproval(client, ada, body)).status).toBe("pending");
  });
});
