import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addPerson, type Person, password } from "@/test/support/actors";
import { ask, callback, logIn, sessionOf, signInAt, statusOf, whoIs } from "@/test/support/oidc-acts";
import { type Stage, setStage } from "@/test/support/oidc-stage";
import { WebBrowser } from "@/test/support/web-browser";

// Every part of a link, changed: the id, the path, the host, the headers of proxies, the place to go on to; and everything that only looks.
let stage: Stage;
let ada: Person;

beforeAll(async () => {
  stage = await setStage();
  ada = await addPerson(stage.service, "Ada");
});
afterAll(() => stage?.stop());

const unknownId = "apr_00000000000000000000000000";
const secretWords = /Apollo|project_id|delete_project|CRM server/;

async function browserOf(person: Person): Promise<WebBrowser> {
  const browser = new WebBrowser();
  const page = await browser.open(`${stage.url}/signin?callbackUrl=/inbox`);
  await browser.submit(page, "Sign in", { email: person.email, password });
  return browser;
}

/** The path as it stands in the request line, and any header: what a browser's address bar or a proxy would never let through as it is. */
function rawGet(
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; location: string; all: string }> {
  const { hostname, port } = new URL(stage.url);
  return new Promise((resolve, reject) => {
    const asked = request({ hostname, port, path, headers, method: "GET" }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          location: response.headers.location ?? "",
          all: JSON.stringify(response.headers) + Buffer.concat(chunks).toString(),
        }),
      );
    });
    asked.on("error", reject);
    asked.end();
  });
}

function mutations(id: string): string[] {
  const swap = (text: string, at: number, by: string) => text.slice(0, at) + by + text.slice(at + 1);
  const single = Array.from({ length: id.length }, (_, at) => swap(id, at, id[at] === "0" ? "1" : "0"));
  return [
    ...single,
    id.toUpperCase(),
    swap(id, 5, id[5]?.toUpperCase() === id[5] ? "A" : (id[5]?.toUpperCase() ?? "")),
    id.slice(0, -1),
    `${id}0`,
    id.replace("apr_", ""),
    id.replace("_", "-"),
    id.replace("_", "%5F"),
    `%61${id.slice(1)}`,
    `${id}%00`,
    `${id}%20`,
    `%20${id}`,
    `${id}.`,
    `${id}.json`,
    `${id};x=1`,
    `${id}%2Fdecision`,
    `${id}%252e`,
    `${id}%3Fx`,
    `${id}%C0%AE`,
    `${id}%ff`,
    `${id}\u200b`,
    id.replace("a", "а"),
    "..%2Finbox",
    "undefined",
    "%",
  ].filter((text) => text !== id);
}

describe("a link with any part of its id changed", () => {
  it("I2: shows the page of an unknown id to the right person, or at most the page itself where it is the same address", async () => {
    const { id } = await ask(stage, ada);
    const browser = await browserOf(ada);
    const unknown = await browser.open(`${stage.url}/a/${unknownId}`);
    expect(unknown.status).toBe(404);
    // RFC 3986 section 6.2.2.2: an unreserved character that is encoded is the same character.
    const same = new Set([id.replace("_", "%5F"), `%61${id.slice(1)}`]);
    for (const changed of mutations(id)) {
      const page = await browser.open(`${stage.url}/a/${changed}`);
      const isSame = same.has(changed) || new URL(page.url).pathname === `/a/${id}`;
      expect([changed, page.status, secretWords.test(page.html)]).toEqual([changed, isSame ? 200 : 404, isSame]);
      if (!isSame) expect(page.text).toBe(unknown.text);
    }
  });

  it("I2: shows nothing of it to somebody else, and nothing at all to whoever is signed out", async () => {
    const { id } = await ask(stage, ada);
    const eve = await browserOf(await addPerson(stage.service, "Eve"));
    const unknown = await eve.open(`${stage.url}/a/${unknownId}`);
    for (const changed of [id, ...mutations(id)]) {
      const page = await eve.open(`${stage.url}/a/${changed}`);
      expect([changed, page.status, page.text]).toEqual([changed, 404, unknown.text]);
      const out = await new WebBrowser().send("GET", `${stage.url}/a/${changed}`);
      const body = await out.text();
      expect([changed, [303, 404].includes(out.status), secretWords.test(body)]).toEqual([changed, true, false]);
    }
  });

  it("I1: no form answers under a changed address, though everything it holds is right", async () => {
    const { id, url } = await ask(stage, ada);
    const browser = await browserOf(ada);
    const page = await browser.open(url);
    const fields = page.forms.find(({ action }) => action.endsWith("/decision"))?.fields ?? {};
    const form = { ...fields, decision: "decline" };
    const other = await ask(stage, ada);
    for (const path of [
      `/a/${other.id}/decision`,
      `/a/${unknownId}/decision`,
      `/a/${id.toUpperCase()}/decision`,
      `/a/${id}/decision/`,
      `/a/${id}//decision`,
      `/A/${id}/decision`,
      `/a/${id}/decision/x`,
      `/a/${id}/Decision`,
      `/a/${id}%2Fdecision`,
      `//a/${id}/decision`,
      `/a/${id}`,
      `/inbox`,
      `/a/${id}/challenge`,
    ]) {
      const response = await browser.send(
        "POST",
        stage.url + path,
        { "sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded" },
        new URLSearchParams(form),
      );
      await response.text();
      expect([path, await statusOf(stage, id), await statusOf(stage, other.id)]).toEqual([path, "pending", "pending"]);
    }
    await browser.submit(page, "Decline");
    expect(await statusOf(stage, id)).toBe("declined");
  });
});

describe("another host, or what a proxy might say", () => {
  const forged: Record<string, string>[] = [
    { host: "evil.example" },
    { host: "localhost.evil.example" },
    { "x-forwarded-host": "evil.example", "x-forwarded-proto": "https" },
    { "x-forwarded-for": "evil.example", "x-real-ip": "127.0.0.1" },
    { "x-forwarded-prefix": "/evil", "x-forwarded-port": "666", "x-forwarded-server": "evil.example" },
    { forwarded: "host=evil.example;proto=https;for=evil.example" },
    { "x-original-url": "/evil", "x-rewrite-url": "/evil", "x-http-method-override": "POST" },
    { "x-middleware-subrequest": "middleware:middleware:middleware", "x-middleware-rewrite": "/evil" },
    { "x-nextjs-data": "1", "x-invoke-path": "/evil", "next-url": "/evil" },
  ];

  it("changes no link, no cookie and nobody's rights", async () => {
    const { id, url } = await ask(stage, ada);
    const browser = await browserOf(ada);
    const cookie = `countersign.session=${browser.cookie("countersign.session")}`;
    for (const headers of forged) {
      for (const path of ["/inbox", "/account", `/a/${id}`, `/a/${unknownId}`, "/signin", "/api/auth/signin", "/audit"])
        for (const who of [{}, { cookie }]) {
          const { status, location, all } = await rawGet(path, { ...headers, ...who });
          const asked = JSON.stringify([headers, path]);
          expect([asked, status < 500, /evil/.test(location), /evil\.example/.test(all)]).toEqual([
            asked,
            true,
            false,
            false,
          ]);
          if (!("cookie" in who)) expect([asked, secretWords.test(all)]).toEqual([asked, false]);
        }
      const csrf = "x";
      const response = await browser.send(
        "POST",
        `${url}/decision`,
        {
          ...Object.fromEntries(Object.entries(headers).filter(([name]) => name !== "host")),
          "sec-fetch-site": "same-origin",
        },
        new URLSearchParams({ csrf, decision: "decline" }),
      );
      expect([response.status >= 400 || response.status === 303, await statusOf(stage, id)]).toEqual([true, "pending"]);
    }
  });

  it("the provider is told our own address to come back to", async () => {
    for (const headers of forged.slice(2)) {
      const browser = new WebBrowser();
      const page = await browser.open(`${stage.url}/signin`, { headers });
      const { url } = await browser.submit(page, "Continue with Acme", {}, { until: /127\.0\.0\.1/, headers });
      expect(new URL(url).searchParams.get("redirect_uri")).toBe(`${stage.url}/api/auth/callback/acme`);
    }
  });
});

describe("the place to go on to", () => {
  const elsewhere = [
    "https://evil.example/",
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\/evil.example",
    "/\t/evil.example",
    "/%0d%0aLocation:https://evil.example",
    "http:evil.example",
    "javascript:alert(1)",
    "data:text/html,x",
    "http://localhost@evil.example",
    "http://localhost.evil.example",
    " https://evil.example",
    "https:\\\\evil.example",
    "@evil.example",
  ];

  it("is a page of ours after every way of signing in, out and up, whatever the link or the form says", async () => {
    for (const wanted of [...elsewhere, `${stage.url}@evil.example`, `${stage.url}.evil.example/`]) {
      const browser = new WebBrowser();
      const first = await browser.open(`${stage.url}/signin?callbackUrl=${encodeURIComponent(wanted)}`);
      expect([wanted, new URL(first.url).origin]).toEqual([wanted, stage.url]);
      const there = await browser.submit(first, "Continue with Acme", { callbackUrl: wanted });
      const landed = await logIn(browser, there, "ada");
      expect([wanted, new URL(landed.url).origin, await whoIs(stage, browser)]).toEqual([wanted, stage.url, "ada"]);
      for (const path of [
        "signout?callbackUrl=",
        "account/sign-in-again?to=",
        "api/auth/signin?callbackUrl=",
        "api/auth/csrf?callbackUrl=",
      ]) {
        const page = await browser.open(`${stage.url}/${path}${encodeURIComponent(wanted)}`);
        expect([path, wanted, new URL(page.url).origin]).toEqual([path, wanted, stage.url]);
      }
      const out = await browser.open(`${stage.url}/signout`);
      const left = await browser.submit(out, "Sign out", { callbackUrl: wanted });
      expect([wanted, new URL(left.url).origin]).toEqual([wanted, stage.url]);
      const local = await browser.submit(await browser.open(`${stage.url}/signin`), "Sign in", {
        email: ada.email,
        password,
        callbackUrl: wanted,
      });
      expect([wanted, new URL(local.url).origin, await whoIs(stage, browser)]).toEqual([wanted, stage.url, ada.sub]);
    }
  });

  it("is not what a planted cookie of next-auth says", async () => {
    const browser = new WebBrowser();
    browser.plant(stage.url, "next-auth.callback-url", "https%3A%2F%2Fevil.example%2F");
    const page = await signInAt(stage, browser, "ada", "/account");
    expect([page.url, await whoIs(stage, browser)]).toEqual([`${stage.url}/account`, "ada"]);
    browser.plant(stage.url, "next-auth.callback-url", "https%3A%2F%2Fevil.example%2F");
    const left = await browser.submit(await browser.open(`${stage.url}/signout`), "Sign out");
    expect(new URL(left.url).origin).toBe(stage.url);
  });
});

describe("a scanner, a preview, a prefetch", () => {
  const tables = [
    "approval",
    "identity",
    "user",
    "passkey",
    "freeze",
    "decline_cooldown",
    "sign_in_transaction",
    "throttle",
    "outbox",
  ];
  const fingerprint = async () => {
    const { rows } = await stage.service.pool.query(
      tables
        .map(
          // When the worker hands an event out is its own matter.
          (name) =>
            `SELECT '${name}', md5(coalesce(string_agg((to_jsonb(t) - 'dispatched_at')::text, '|' ORDER BY t::text), '')) FROM "${name}" t`,
        )
        .join(" UNION ALL "),
    );
    const { rows: sessions } = await stage.service.pool.query(
      `SELECT count(*) FILTER (WHERE "revoked_at" IS NULL) FROM "session"`,
    );
    return JSON.stringify([rows, sessions]);
  };

  it("I7: with GET and HEAD of everything, signed out or with a person's cookies, changes nothing and uses nothing up", async () => {
    const browser = new WebBrowser();
    await signInAt(stage, browser, "ada");
    const { id, url } = await ask(stage, { iss: stage.acme, sub: "ada" }, { maxAuthAgeSeconds: 0 });
    const there = await browser.submit(await browser.open(url), "Sign in again with Acme");
    const answer = (await logIn(browser, there, "ada", callback)).url;
    const session = await sessionOf(stage, browser);
    const before = await fingerprint();
    const cookie = `countersign.session=${browser.cookie("countersign.session")}`;
    const paths = [
      ...[
        "",
        "/decision",
        "/take-back",
        "/lift-cooldown",
        "/challenge",
        "/not-requested",
        "/sign-in-again",
        "/sign-in-again/submit",
      ].map((end) => `/a/${id}${end}`),
      ...[
        "",
        "/sign-in-again?to=/account",
        "/sign-in-again/submit",
        "/links/unlink",
        "/sessions/end-others",
        "/passkeys",
      ].map((end) => `/account${end}`),
      ...[
        "signin",
        "signin/acme",
        "signout",
        "csrf",
        "session",
        "providers",
        "error",
        "callback/acme",
        "callback/credentials",
        "_log",
      ].map((end) => `/api/auth/${end}`),
      "/inbox",
      "/signin",
      "/signout",
      "/audit",
      "/admin",
      "/locale",
      `/a/${id}?decision=accept`,
      `/a/${id}/decision?decision=accept&csrf=x`,
    ];
    for (const path of paths)
      for (const [method, headers] of [
        ["GET", {}],
        ["HEAD", {}],
        ["GET", { cookie, purpose: "prefetch", "sec-purpose": "prefetch" }],
        ["HEAD", { cookie }],
      ] as const) {
        const response = await fetch(stage.url + path, { method, headers, redirect: "manual" });
        await response.text();
        expect([path, method, response.status < 500]).toEqual([path, method, true]);
      }
    // The answer itself, as a mail scanner or a browser's preview would fetch it: without the cookies of its flow, or only its head.
    for (const method of ["GET", "HEAD"])
      for (const headers of [{}, { cookie }])
        await fetch(answer, { method, headers, redirect: "manual" }).then((response) => response.text());
    await browser.send("HEAD", answer);
    expect([await fingerprint(), await sessionOf(stage, browser)]).toEqual([before, session]);
    expect((await browser.open(answer)).url).toBe(url);
  });
});
