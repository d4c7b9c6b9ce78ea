import { gzipSync } from "node:zlib";
import { pino } from "pino";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Service } from "@/lib/process";
import { startService } from "@/lib/service/start";
import type { ServerProcess } from "@/scripts/server-process";
import { addPerson, addTestClient, mintApproval, type Person, signIn, type TestClient } from "@/test/support/actors";
import { launchBrowser, openPhone, seriousFaults, signInOnPage } from "@/test/support/browser";
import { createDatabase } from "@/test/support/database";
import { seedPages } from "@/test/support/page-states";
import { startServer } from "@/test/support/server";

let server: ServerProcess;
let service: Service;
let stopService: () => Promise<void>;
let browser: Browser;
let client: TestClient;
let ada: Person;

beforeAll(async () => {
  server = await startServer({
    databaseUrl: await createDatabase(),
  });
  ({ service, stop: stopService } = await startService(server.config, {
    log: pino({ level: "silent" }),
  }));
  client = await addTestClient(service, { maxMintsPerSubjectPerHour: 500, maxPendingPerSubject: 50 });
  ada = await addPerson(service, "Ada");
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await stopService?.();
  await server?.kill("SIGTERM");
});

const tables = [
  "approval",
  "decline_cooldown",
  "freeze",
  "idempotency_key",
  "api_key",
  "client",
  "client_policy",
  "user",
  "identity",
  "signing_key",
  "outbox",
];
const fingerprint = async () =>
  JSON.stringify(
    await Promise.all(
      tables.map(
        async (table) =>
          (
            await service.pool.query(
              // When the worker hands an event out is its own matter.
              `SELECT md5(coalesce(string_agg((to_jsonb(t) - 'dispatched_at')::text, '|' ORDER BY t::text), '')) AS h FROM "${table}" t`,
            )
          ).rows[0]?.h,
      ),
    ),
  );

describe("every page", () => {
  it("has no serious accessibility fault, breaks no rule of the CSP, and carries the security headers", async () => {
    const faults: string[] = [];
    for (const { name, path, cookies } of await seedPages(service)) {
      const { context, page, complaints } = await openPhone(browser, {
        colorScheme: name.length % 2 ? "dark" : "light",
      });
      await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: server.url })));
      const response = await page.goto(`${server.url}${path}`);
      const headers = response?.headers() ?? {};
      faults.push(
        ...(await seriousFaults(page)).map((fault) => `${name}: ${fault}`),
        ...complaints.map((text) => `${name}: ${text}`),
      );
      if (!headers["content-security-policy"]?.startsWith("default-src 'none'; script-src 'nonce-"))
        faults.push(`${name}: CSP`);
      for (const [header, value] of [
        ["cache-control", "no-store"],
        ["referrer-policy", "same-origin"],
        ["x-content-type-options", "nosniff"],
        ["cross-origin-opener-policy", "same-origin"],
      ] as const)
        if (headers[header] !== value) faults.push(`${name}: ${header} is ${headers[header]}`);
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 844 });
        if (await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth))
          faults.push(`${name}: scrolls sideways at ${width} px`);
      }
      await context.close();
    }
    expect(faults).toEqual([]);
  }, 300_000);

  it("is answered whole, with its own status, whatever a script asks of it (I2)", async () => {
    const { cookie } = await signIn(service, await addPerson(service));
    for (const headers of [{ rsc: "1" }, { rsc: "1", "next-router-state-tree": "%5B" }, { "next-action": "x" }]) {
      const response = await fetch(`${server.url}/a/apr_00000000000000000000000000`, {
        headers: { cookie, ...(headers as Record<string, string>) },
        redirect: "manual",
      });
      expect([response.status, response.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    }
  });

  it("takes no nonce or policy from the request", async () => {
    const response = await fetch(`${server.url}/signin`, {
      headers: {
        "x-nonce": "evil",
        "content-security-policy": "script-src 'nonce-evil'",
        cookie: "next-auth.csrf-token=a%7Cb",
      },
    });
    expect([
      response.headers.get("content-security-policy")?.includes("evil"),
      (await response.text()).includes('nonce="evil"'),
    ]).toEqual([false, false]);
  });

  it("needs at most 150 KB of script, compressed, on the page of an approval", async () => {
    const { id } = await mintApproval(client, ada);
    const { cookie } = await signIn(service, ada);
    const html = await (await fetch(`${server.url}/a/${id}`, { headers: { cookie } })).text();
    const scripts = [
      ...new Set([...html.matchAll(/<script src="(\/_next\/static\/[^"]+\.js)"(?! noModule)/g)].map((m) => m[1])),
    ];
    const sizes = await Promise.all(
      scripts.map(
        async (src) => gzipSync(Buffer.from(await (await fetch(`${server.url}${src}`)).arrayBuffer())).length,
      ),
    );
    expect(scripts.length).toBeGreaterThan(0);
    expect(sizes.reduce((a, b) => a + b, 0)).toBeLessThan(150 * 1024);
  });
});

describe("reading changes nothing (I7)", () => {
  it("by the subject, another person, a scanner, with any method that reads, any number of times", async () => {
    const eve = await addPerson(service, "Eve");
    const { id } = await mintApproval(client, ada);
    const [adas, eves] = [await signIn(service, ada), await signIn(service, eve)];
    const before = await fingerprint();
    const paths = [
      `/a/${id}`,
      `/a/${id}/not-requested`,
      `/a/${id}/sign-in-again`,
      `/a/${id}/decision`,
      `/a/${id}/take-back`,
      `/a/${id}/lift-cooldown`,
      "/inbox",
      "/audit",
      `/audit/${id}`,
      "/locale",
      `/a/${id}?decision=accept`,
      `/a/${id}/decision?decision=accept&csrf=x`,
    ];
    for (const cookie of ["", adas.cookie, eves.cookie])
      for (const path of paths)
        for (const method of ["GET", "HEAD"])
          await fetch(`${server.url}${path}`, {
            method,
            headers: { cookie, "sec-fetch-site": "same-origin" },
            redirect: "manual",
          });
    const api = [`/api/v1/approvals/${id}`, "/api/v1/approvals", `/api/v1/approvals/${id}/consume`];
    for (const path of api)
      await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${client.apiKey}` } });
    expect(await fingerprint()).toBe(before);
  });
});

describe("signing in", () => {
  it("keeps to our own pages, whatever the link says", async () => {
    for (const callbackUrl of [
      "https://evil.example/",
      "//evil.example",
      "/\\evil.example",
      "javascript:alert(1)",
      "http://localhost.evil.example",
    ]) {
      const { context, page } = await openPhone(browser);
      await page.goto(`${server.url}/signin?callbackUrl=${encodeURIComponent(callbackUrl)}`);
      await signInOnPage(page, ada.email);
      await page.getByRole("heading", { name: "Waiting for you" }).waitFor();
      expect(new URL(page.url()).origin).toBe(server.url);
      await context.close();
    }
  });

  it("refuses a form from elsewhere: without next-auth's token nobody is signed in", async () => {
    const response = await fetch(`${server.url}/api/auth/callback/credentials`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", origin: "https://evil.example" },
      body: new URLSearchParams({ email: ada.email, password: "correct horse battery staple", csrfToken: "forged" }),
      redirect: "manual",
    });
    expect(response.headers.getSetCookie().some((cookie) => cookie.startsWith("countersign.session="))).toBe(false);
  });

  it("says nothing to scripts about who is signed in, and ends for good when signed out", async () => {
    const { context, page } = await openPhone(browser);
    await page.goto(`${server.url}/inbox`);
    await signInOnPage(page, ada.email);
    await page.getByRole("heading", { name: "Waiting for you" }).waitFor();
    const cookies = await context.cookies();
    const session = cookies.find((cookie) => cookie.name === "countersign.session");
    expect([session?.httpOnly, session?.sameSite]).toEqual([true, "Lax"]);
    const told = (await (await page.request.get(`${server.url}/api/auth/session`)).json()) as object;
    expect(Object.keys(told)).toEqual(["expires"]);
    await page.getByRole("link", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    const stolen = await fetch(`${server.url}/inbox`, {
      headers: { cookie: `countersign.session=${session?.value}` },
      redirect: "manual",
    });
    expect([stolen.status, stolen.headers.get("location")]).toEqual([303, "/signin?callbackUrl=%2Finbox"]);
    await context.close();
  });

  it("a bearer token is no session, and the link shows nothing to somebody signed out", async () => {
    const { id } = await mintApproval(client, ada);
    const { cookie } = await signIn(service, ada);
    const value = cookie.split("=")[1];
    const response = await fetch(`${server.url}/a/${id}`, {
      headers: { authorization: `Bearer ${value}` },
      redirect: "manual",
    });
    const body = await response.text();
    expect([response.status, /Apollo|project_id/.test(body)]).toEqual([303, false]);
  });
});

describe("the history", () => {
  it("is for auditors alone: everybody else gets the page of a miss", async () => {
    const { cookie } = await signIn(service, ada);
    const { id } = await mintApproval(client, ada);
    for (const path of ["/audit", `/audit/${id}`]) {
      const response = await fetch(`${server.url}${path}`, { headers: { cookie } });
      expect([response.status, (await response.text()).includes("approval.minted")]).toEqual([404, false]);
    }
    const iris = await addPerson(service, "Iris", ["auditor"]);
    const auditor = await signIn(service, iris);
    const response = await fetch(`${server.url}/audit/${id}`, { headers: { cookie: auditor.cookie } });
    const html = await response.text();
    expect([response.status, html.includes("approval.minted"), html.includes("p_42")]).toEqual([200, true, false]);
  });
});
