import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Service } from "@/lib/process";
import { startService } from "@/lib/service/start";
import type { ServerProcess } from "@/scripts/server-process";
import {
  addPerson,
  addTestClient,
  mintApproval,
  mintBody,
  password,
  signIn,
  type TestClient,
} from "@/test/support/actors";
import { createDatabase } from "@/test/support/database";
import { freePorts } from "@/test/support/free-port";
import { type RawAnswer, sendRaw } from "@/test/support/raw-http";
import { startServer } from "@/test/support/server";
import { WebBrowser } from "@/test/support/web-browser";

let server: ServerProcess;
let service: Service;
let stopService: () => Promise<void>;
let client: TestClient;
let adminCookie: string;
/** Stands for the proxies: one public name that leads outside or inside, as split-horizon DNS has it. */
let proxy: { server: Server; leadsTo: number };
let publicPort: number;
let outside: number;
let inside: number;
let apiOnly: number;

beforeAll(async () => {
  const ports = await freePorts(4);
  [publicPort = 0, outside = 0, inside = 0, apiOnly = 0] = ports;
  server = await startServer({
    databaseUrl: await createDatabase(),
    env: {
      COUNTERSIGN_URL: `http://localhost:${publicPort}`,
      // Where the harness looks for it to be ready.
      PORT: String(outside),
      METRICS_TOKEN: metricsToken,
      SURFACES: `pages,metrics=127.0.0.1:${outside}; api,admin,audit=127.0.0.1:${inside}; api,metrics=127.0.0.1:${apiOnly}`,
    },
  });
  ({ service, stop: stopService } = await startService(server.config, { log: pino({ level: "silent" }) }));
  client = await addTestClient(service);
  adminCookie = (await signIn(service, await addPerson(service, "Root", ["admin"]))).cookie;
  proxy = { leadsTo: outside, server: createServer(forward) };
  await new Promise<void>((resolve) => proxy.server.listen(publicPort, "localhost", resolve));
});
afterAll(async () => {
  proxy?.server.close();
  await stopService?.();
  await server?.kill("SIGTERM");
});

function forward(from: IncomingMessage, back: ServerResponse): void {
  const { method, url, headers } = from;
  const to = request({ host: "127.0.0.1", port: proxy.leadsTo, method, path: url, headers }, (answer) => {
    back.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(back);
  });
  from.pipe(to);
}

const metricsToken = randomBytes(24).toString("hex");

const at = (port: number, path: string, init: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${port}${path}`, { redirect: "manual", ...init });

/** One request on a connection of its own. */
const raw = async (port: number, requestLine: string, headers: string[] = []): Promise<RawAnswer> => {
  const lines = [requestLine, "Host: localhost", "Connection: close", ...headers, "", ""];
  const [answer] = await sendRaw(port, lines.join("\r\n"));
  if (!answer) throw new Error("no answer");
  return answer;
};

/**
 * Without what differs between two requests for the same thing: the time, the nonce, how the body was cut into chunks, and into how many
 * pieces React has cut the data of the page, of which the path stays.
 */
function comparable({ status, head, body }: RawAnswer) {
  const nonce = /'nonce-([0-9a-f]{32})'/.exec(head.join("\n"))?.[1] ?? "no nonce";
  const clean = (text: string) => text.replaceAll(nonce, "NONCE").replaceAll(/req_[0-9a-f-]{36}/g, "REQUEST");
  const whole = body.replaceAll(/(?:^|\r\n)[0-9a-f]+\r\n/g, "");
  return {
    status,
    head: head.filter((line) => !/^date:/i.test(line)).map(clean),
    body: clean(whole.replaceAll(/<script nonce="\w+">\(?self\.__next_f.*?<\/script>/gs, "")),
    path: /\\"c\\":(\[[^\]]*\])/.exec(whole)?.[1],
  };
}

describe("a surface that is not on the listener", () => {
  const elsewhere = [
    "/admin",
    "/admin/",
    "/admin?x=1",
    "/admin/people",
    "/admin/clients/cli_1",
    "/audit",
    "/audit/apr_01234567890123456789012345",
    "/api/v1/approvals",
    "/api/v1/openapi.json",
    "/metrics",
    "/%61dmin",
    "/%61%64%6D%69%6E",
    "/%2561dmin",
    "//admin",
    "///admin",
    "/admin//",
    "/./admin",
    "/inbox/../admin",
    "/signin/%2e%2e/admin",
    "/signin/..%2fadmin",
    "/signin/..%5cadmin",
    "/signin\\..\\admin",
    "/_next/static/../../admin",
    "/_next/static/%2e%2e/%2e%2e/admin",
    "/_next/static/..%2f..%2fadmin",
    "/admin;x=1",
    "/admin;/",
    "/admin%00",
    "/admin%20",
    "/admin%0d%0ax",
    "/admin#",
    "/inbox#/../admin",
    "/ADMIN",
    "/Admin",
    "/admin.rsc",
    "/admin.txt",
    "/admin.html",
    "/admin.json",
    "/admin.segments/_tree.segment.rsc",
    "/admin/index",
    "/index/admin",
    "/_next/data/BUILD/admin.json",
    "/_next/data/BUILD/admin.rsc",
    "/_next/image?url=/admin&w=64&q=75",
    "/api/auth/../../admin",
    "/?_rsc=1&nxtPid=admin/../../admin#x",
    "http://localhost/admin",
    "HTTP://localhost:1/admin",
  ];

  const unknown: Record<string, RawAnswer> = {};
  it.each(elsewhere)("%s is answered as an unknown path is, to an admin too", async (target) => {
    const built = target.replaceAll("BUILD", readFileSync(".next/BUILD_ID", "utf8").trim());
    for (const method of ["GET", "HEAD", "POST", "OPTIONS"]) {
      const headers = [`Cookie: ${adminCookie}`, "Sec-Fetch-Site: same-origin", "Content-Length: 0"];
      unknown[method] ??= await raw(outside, `${method} /nothing-of-that-name HTTP/1.1`, headers);
      const answer = await raw(outside, `${method} ${built} HTTP/1.1`, headers);
      expect(comparable(answer)).toEqual(comparable(unknown[method]));
      if (method === "GET") expect(answer.status).toBe(404);
    }
  });

  it.each([
    ["X-Middleware-Subrequest: middleware:middleware:middleware:middleware:middleware"],
    ["X-Middleware-Rewrite: /admin", "X-Middleware-Next: 1"],
    ["X-Middleware-Prefetch: 1"],
    ["X-Middleware-Override-Headers: x", "X-Middleware-Request-X-Nonce: x"],
    ["X-Matched-Path: /admin", "X-Now-Route-Matches: 1=admin"],
    ["X-Invoke-Path: /admin", "X-Invoke-Output: /admin", "X-Invoke-Query: {}", "X-Invoke-Status: 200"],
    ["X-Nextjs-Data: 1"],
    ["RSC: 1", "Next-Router-State-Tree: x", "Next-Url: /admin"],
    ["Next-Action: 0123456789abcdef0123456789abcdef01234567"],
    ["Next-Resume: 1", "X-Next-Resume-State-Length: 1"],
    ["X-Prerender-Revalidate: x", "X-Vercel-Id: x", "X-Next-Cache-Tags: /admin"],
    ["X-Original-Url: /admin", "X-Rewrite-Url: /admin", "X-Forwarded-Prefix: /admin", "X-Forwarded-Uri: /admin"],
    ["X-Http-Method-Override: GET", "X-Forwarded-Host: inside.example", "X-Forwarded-Port: 3001"],
    ["Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="],
    ["Purpose: prefetch", "Accept: text/x-component"],
  ])("%s does not lead there", async (...headers) => {
    const all = [...headers, `Cookie: ${adminCookie}`];
    const unknown = comparable(await raw(outside, "GET /nothing-of-that-name HTTP/1.1", all));
    expect(unknown.status).toBe(404);
    expect(JSON.stringify(unknown)).not.toContain("admin");
    expect(comparable(await raw(outside, "GET /admin HTTP/1.1", all))).toEqual(unknown);
  });

  it.each(["Host: 127.0.0.1:3001", "Host: inside.example", "Host: localhost/admin", "Host: "])(
    "no %s leads there",
    async (host) => {
      const send = async (path: string) => {
        const [answer] = await sendRaw(outside, `GET ${path} HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`);
        return answer && comparable(answer);
      };
      expect(await send("/admin")).toEqual(await send("/nothing-of-that-name"));
      expect((await send("/admin"))?.status).not.toBe(200);
    },
  );

  it("neither does a request behind another one on the same connection, nor one that asks to upgrade it", async () => {
    const one = (path: string, last: boolean) =>
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nCookie: ${adminCookie}\r\nConnection: ${last ? "close" : "keep-alive"}\r\n\r\n`;
    const answers = await sendRaw(
      outside,
      one("/account", false) + one("/admin", false) + one("/api/v1/approvals", true),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 404]);
    const upgrade = ["Upgrade: websocket"];
    const lines = (path: string) =>
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\n${upgrade.join("\r\n")}\r\n\r\n`;
    // Next's own handler of upgrades ends the connection of a page that it has, and of no other.
    const [known, unknown] = [await sendRaw(outside, lines("/inbox")), await sendRaw(outside, lines("/nothing"))];
    expect([known[0]?.status, unknown[0]?.status]).toEqual([303, 404]);
  });

  it("its files hold nothing of its own: the pages of admins and auditors have no script that the page of a miss lacks", () => {
    const manifests = readdirSync(".next/server/app", { recursive: true, encoding: "utf8" }).filter((file) =>
      /client-reference-manifest\.js$/.test(file),
    );
    const chunksOf = (pattern: RegExp) =>
      new Set(
        manifests
          .filter((file) => pattern.test(file))
          .flatMap((file) => readFileSync(`.next/server/app/${file}`, "utf8").match(/static\/chunks\/[\w.~-]+/g) ?? []),
      );
    const own = chunksOf(/^(?:admin|audit)\b/);
    const everyones = chunksOf(/^_not-found\b/);
    expect(own.size).toBeGreaterThan(0);
    expect([...own].filter((chunk) => !everyones.has(chunk))).toEqual([]);
    const files = readdirSync(".next/static", { recursive: true, encoding: "utf8" }).filter((file) =>
      /\.js$/.test(file),
    );
    expect(files.filter((file) => /["'`/]admin\//.test(readFileSync(`.next/static/${file}`, "utf8")))).toEqual([]);
  });
});

describe("what is on a listener", () => {
  const statusOf = async (port: number, path: string, headers: Record<string, string> = {}) =>
    (await at(port, path, { headers })).status;

  it("health is on each, the public keys where there are pages or the API, metrics only where they were put, with the token", async () => {
    const table = await Promise.all(
      ["/healthz", "/readyz", "/.well-known/jwks.json", "/.well-known/countersign", "/metrics"].map(async (path) => [
        path,
        ...(await Promise.all([outside, inside, apiOnly].map((port) => statusOf(port, path)))),
      ]),
    );
    expect(table).toEqual([
      ["/healthz", 200, 200, 200],
      ["/readyz", 200, 200, 200],
      ["/.well-known/jwks.json", 200, 200, 200],
      ["/.well-known/countersign", 200, 200, 200],
      ["/metrics", 404, 404, 404],
    ]);
    const headers = { authorization: `Bearer ${metricsToken}` };
    const scraped = await Promise.all([outside, inside, apiOnly].map((port) => at(port, "/metrics", { headers })));
    expect(scraped.map(({ status }) => status)).toEqual([200, 404, 200]);
    const text = await scraped[2]?.text();
    expect(text).toContain("countersign_build_info");
    expect(text).toMatch(
      /^countersign_http_request_seconds_count\{method="GET",route="\/readyz",status="2xx"\} [1-9]/m,
    );
  });

  it("the machine API mints where it is, and not where it is not", async () => {
    const ada = await addPerson(service);
    const mint = (port: number) =>
      at(port, "/api/v1/approvals", {
        method: "POST",
        headers: { authorization: `Bearer ${client.apiKey}`, "content-type": "application/json" },
        body: JSON.stringify(mintBody(ada)),
      });
    expect([(await mint(inside)).status, (await mint(apiOnly)).status, (await mint(outside)).status]).toEqual([
      201, 201, 404,
    ]);
  });

  it("without any pages, unknown is a problem of the machine API, the same for every path", async () => {
    const problem = comparable(await raw(apiOnly, "GET /nothing-of-that-name HTTP/1.1"));
    expect(problem).toMatchObject({ status: 404, body: expect.stringContaining("not_found") });
    for (const path of ["/admin", "/signin", "/a/x", "/", "/_next/static/x.js", "//metrics", "/%61dmin"])
      expect(comparable(await raw(apiOnly, `GET ${path} HTTP/1.1`))).toEqual(problem);
  });

  it("an admin signs in inside, under the public name, and the same session approves outside, where admins have nothing", async () => {
    const root = await addPerson(service, "Root", ["admin"]);
    const url = `http://localhost:${publicPort}`;
    const browser = new WebBrowser();
    proxy.leadsTo = inside;
    const asked = await browser.open(`${url}/admin`);
    expect(new URL(asked.url).pathname).toBe("/signin");
    const landed = await browser.submit(asked, "Sign in", { email: root.email, password });
    expect([landed.url, landed.status]).toEqual([`${url}/admin`, 200]);
    expect((await browser.open(`${url}/account`)).status).toBe(200);
    expect((await browser.open(`${url}/inbox`)).status).toBe(404);

    proxy.leadsTo = outside;
    expect((await browser.open(`${url}/inbox`)).status).toBe(200);
    const [there, nowhere] = [await browser.open(`${url}/admin`), await browser.open(`${url}/nothing-of-that-name`)];
    expect([there.status, there.text]).toEqual([404, nowhere.text]);
  });
});

describe("SIGTERM", () => {
  const startDraining = async (graceSeconds: string) =>
    startServer({
      databaseUrl: server.config.databaseUrl ?? "",
      secret: Buffer.from(server.config.secret ?? []).toString("hex"),
      env: { DRAIN_GRACE_SECONDS: graceSeconds },
    });
  const bearer = () => ({ authorization: `Bearer ${client.apiKey}` });
  /** As often as the answers come. */
  const untilNotReady = async (url: string) => {
    for (;;) {
      const answer = await fetch(`${url}/readyz`);
      if (answer.status === 503) return answer;
      await answer.arrayBuffer();
    }
  };

  it("for the grace /readyz says draining, everything is still answered, connections end, and a decision still wakes a wait", async () => {
    const draining = await startDraining("6");
    const ada = await addPerson(service, "Ada");
    const { cookie } = await signIn(service, ada);
    const [waited, kept] = [
      await mintApproval(client, ada, { action: { tool: "withdrawn", arguments: {} } }),
      await mintApproval(client, ada, { action: { tool: "kept", arguments: {} } }),
    ];
    const wait = (id: string) => fetch(`${draining.url}/api/v1/approvals/${id}?wait=50`, { headers: bearer() });
    const [woken, parked] = [wait(waited.id), wait(kept.id)];
    await fetch(`${draining.url}/api/v1/approvals/${kept.id}`, { headers: bearer() });

    const exit = draining.kill("SIGTERM");
    const notReady = await untilNotReady(draining.url);
    expect(await notReady.json()).toMatchObject({
      status: "not_ready",
      checks: { draining: "failed", database: "ok" },
    });
    const page = await fetch(`${draining.url}/inbox`, { headers: { cookie } });
    expect([page.status, page.headers.get("connection")]).toEqual([200, "close"]);
    const withdrawn = await fetch(`${draining.url}/api/v1/approvals/${waited.id}/withdraw`, {
      method: "POST",
      headers: { ...bearer(), "content-type": "application/json" },
      body: JSON.stringify({ reason: "aborted" }),
    });
    expect(withdrawn.status).toBe(200);
    const first = await woken;
    expect([first.headers.get("connection"), await first.json()]).toEqual([
      "close",
      expect.objectContaining({ status: "withdrawn" }),
    ]);
    // Parked until the grace ends: a client that asks again at once would come back to a process that is going.
    expect(await (await parked).json()).toMatchObject({ status: "pending", next: "wait" });
    expect(await exit).toBe(0);
    await expect(fetch(`${draining.url}/healthz`)).rejects.toThrow();
  });

  it("a second one exits at once, with 1", async () => {
    const draining = await startDraining("300");
    const exit = draining.kill("SIGTERM");
    await untilNotReady(draining.url);
    process.kill(draining.pid, "SIGTERM");
    expect(await exit).toBe(1);
  });

  it("Ctrl-C, which nobody balances load over, has no grace", async () => {
    const draining = await startDraining("300");
    expect(await draining.kill("SIGINT")).toBe(0);
  });

  it("an address that is taken ends the start, with 1 and its name", async () => {
    const taken = startServer({
      databaseUrl: server.config.databaseUrl ?? "",
      secret: Buffer.from(server.config.secret ?? []).toString("hex"),
      env: { COUNTERSIGN_URL: "http://localhost:1", SURFACES: `pages=127.0.0.1:${outside}` },
    });
    await expect(taken).rejects.toThrow(/ended with 1/);
  });
});
