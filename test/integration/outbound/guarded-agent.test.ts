import { once } from "node:events";
import http, { type RequestOptions } from "node:http";
import https from "node:https";
import { describe, expect, it } from "vitest";
import { guardedAgent } from "@/lib/outbound/guarded-agent";
import { parseOutboundAllow } from "@/lib/outbound/policy";
import type { Resolve } from "@/lib/outbound/resolve";
import { hooksCertificate, receiveHttp, receiveHttps, receiveTcp } from "./receivers";

const limits = { timeoutMs: 2_000, maxBytes: 100_000 };
const loopback: Resolve = async () => [{ address: "127.0.0.1", family: 4 }];
const agentFor = (allow: string, change: Partial<typeof limits> = {}) =>
  guardedAgent(parseOutboundAllow(allow).policy, { ...limits, ...change }, { resolve: loopback });

/** As a library calls: the module that fits the URL, options that it made up itself. */
function call(url: string, options: RequestOptions & { ca?: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = (url.startsWith("https:") ? https : http).request(url, options, (response) => {
      const parts: Buffer[] = [];
      response.on("error", reject);
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () => resolve(`${response.statusCode} ${Buffer.concat(parts)}`));
    });
    request.on("error", reject).end();
  });
}

describe("the guarded agent", () => {
  it("serves both modules of Node, each with connections of its kind", async () => {
    const plain = await receiveHttp((request, response) => response.end(request.headers.host));
    const secure = await receiveHttps((request, response) => response.end(request.headers.host));
    const agent = agentFor("hooks.example");
    expect(await call(`http://hooks.example:${plain.port}/`, { agent })).toBe(`200 hooks.example:${plain.port}`);
    expect(await call(`https://hooks.example:${secure.port}/`, { agent, ca: hooksCertificate })).toBe(
      `200 hooks.example:${secure.port}`,
    );
  });

  it.each([
    ["http://hooks.example/", 80, "hooks.example"],
    ["https://hooks.example/", 443, "hooks.example"],
    ["http://hooks.example:443/", 443, "hooks.example:443"],
    ["https://hooks.example:80/", 80, "hooks.example:80"],
    ["https://hooks.example:8443/", 8443, "hooks.example:8443"],
  ])(
    "knows the port, also of a URL that names none, and says it in Host as the URL does: %s",
    async (url, port, host) => {
      const refusing = (url.startsWith("https:") ? https : http).request(url, { agent: agentFor("") });
      expect(refusing.getHeader("host")).toBe(host);
      const [error] = (await once(refusing, "error")) as [Error];
      expect(error.message).toMatch(`by adding hooks.example:${port} to OUTBOUND_ALLOW.`);
    },
  );

  it.each([
    ["a private address", "https://10.0.0.1/", {}, "address_refused"],
    ["http to a host that is not allowed", "http://hooks.example/", {}, "url_refused"],
    ["a user name in the URL", "https://user:word@hooks.example/", {}, "url_refused"],
    ["a user name beside the URL", "https://hooks.example/", { auth: "user:word" }, "url_refused"],
  ])("refuses a library's call: %s", async (_, url, options, code) => {
    await expect(call(url, { agent: agentFor("127.0.0.1:1"), ...options })).rejects.toMatchObject({ code });
  });

  it("listens to no option that would lead round it", async () => {
    const receiver = await receiveHttp((_, response) => response.end());
    const around = {
      lookup: (_host: string, _options: object, done: (error: null, address: string, family: number) => void) =>
        done(null, "127.0.0.1", 4),
      createConnection: undefined,
      socketPath: "/nowhere",
      rejectUnauthorized: false,
      checkServerIdentity: () => undefined,
    } as RequestOptions;
    await expect(
      call(`https://hooks.example:${receiver.port}/`, { agent: agentFor(""), ...around }),
    ).rejects.toMatchObject({ code: "address_refused" });
    const secure = await receiveHttps((_, response) => response.end());
    await expect(
      call(`https://hooks.example:${secure.port}/`, { agent: agentFor("hooks.example"), ...around }),
    ).rejects.toMatchObject({ code: "tls_failed" });
    expect([receiver.connections, secure.requests]).toEqual([0, []]);
  });

  it("ends a call at its deadline, though the library would wait for ever", async () => {
    const silent = await receiveTcp((socket) => socket.resume());
    await expect(
      call(`http://hooks.example:${silent.port}/`, { agent: agentFor("hooks.example", { timeoutMs: 100 }) }),
    ).rejects.toMatchObject({ code: "timeout" });
    await silent.closed();
    const stopping = await receiveHttp((_, response) => response.writeHead(200).write("half"));
    await expect(
      call(`http://hooks.example:${stopping.port}/`, { agent: agentFor("hooks.example", { timeoutMs: 100 }) }),
    ).rejects.toMatchObject({ code: "timeout" });
  });

  it("ends a call whose answer is larger than its limit", async () => {
    const receiver = await receiveHttp((_, response) => response.end("x".repeat(1_000_000)));
    await expect(
      call(`http://hooks.example:${receiver.port}/`, { agent: agentFor("hooks.example", { maxBytes: 1_000 }) }),
    ).rejects.toMatchObject({ code: "response_too_large" });
  });
});
