import NextAuth from "next-auth";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { authOptions } from "@/app/api/auth/[...nextauth]/options";
import { parseConfig } from "@/lib/config";
import { createTestService, type TestService } from "@/test/support/database";
import { type Receiver, receiveHttp, receiveHttps } from "./receivers";

let t: TestService;
let logged: string[];
/** A service of somebody else on this machine, which no provider may lead to. */
let inner: Receiver;

beforeAll(async () => {
  t = await createTestService();
});
afterAll(() => t.stop());
beforeEach(async () => {
  logged = [];
  inner = await receiveHttp((_, response) => response.end("{}"));
});

type Answers = {
  discovery?: Record<string, unknown>;
  redirects?: string;
  idToken?: (nonce: string) => string;
  body?: string;
};

/** An OpenID provider that answers what the test wants. */
async function startProvider(answers: Answers): Promise<{ issuer: string; receiver: Receiver }> {
  const receiver = await receiveHttp((request, response) => {
    const base = `http://127.0.0.1:${receiver.port}`;
    if (answers.redirects) return void response.writeHead(302, { location: answers.redirects }).end();
    if (answers.body) return void response.end(answers.body);
    response.setHeader("content-type", "application/json");
    if (request.url === "/token")
      return void response.end(
        JSON.stringify({ access_token: "x", token_type: "Bearer", id_token: answers.idToken?.(nonce) }),
      );
    response.end(
      JSON.stringify({
        issuer: base,
        authorization_endpoint: `${base}/authorize`,
        token_endpoint: `${base}/token`,
        jwks_uri: `${base}/jwks`,
        ...answers.discovery,
      }),
    );
  });
  return { issuer: `http://127.0.0.1:${receiver.port}`, receiver };
}

let nonce = "";

/**
 * Signs in at the provider and comes back with a code, by next-auth with the options of our routes: where each of the two steps led. Its
 * handler for Node's requests is called, since the one for routes works inside Next alone.
 */
async function signIn(issuer: string, outboundAllow = ""): Promise<{ begun: string; ended: string | undefined }> {
  const entry = { id: "acme", label: "Acme", issuer, clientId: "c", clientSecret: "s" };
  const { oidcProviders, outbound } = parseConfig({
    OIDC_PROVIDERS: JSON.stringify([entry]),
    OUTBOUND_ALLOW: outboundAllow,
  });
  const log = pino({ level: "warn" }, { write: (line: string) => logged.push(line) });
  const service = { ...t.service, log, config: { ...t.service.config, oidcProviders, outbound } };
  const cookies: Record<string, string> = {};
  const send = async (method: "GET" | "POST", nextauth: string[], fields: { query?: object; body?: object } = {}) => {
    const request = { method, query: { nextauth, ...fields.query }, body: fields.body ?? {}, cookies, headers: {} };
    const response = new RecordedResponse();
    await NextAuth(request as never, response as never, authOptions(service));
    for (const set of response.setCookies) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies[name] = decodeURIComponent(value);
    }
    return response;
  };
  const { csrfToken } = (await send("GET", ["csrf"])).body as { csrfToken: string };
  const begun = (await send("POST", ["signin", "acme"], { body: { csrfToken } })).location;
  if (!begun.startsWith(issuer)) return { begun, ended: undefined };
  const asked = new URL(begun).searchParams;
  nonce = asked.get("nonce") ?? "";
  const query = { code: "code", state: asked.get("state"), iss: issuer };
  return { begun, ended: (await send("GET", ["callback", "acme"], { query })).location };
}

/** The part of a Node response that next-auth uses. */
class RecordedResponse {
  location = "";
  setCookies: string[] = [];
  body: unknown;
  status(): this {
    return this;
  }
  getHeader(name: string): unknown {
    return name.toLowerCase() === "set-cookie" ? this.setCookies : undefined;
  }
  setHeader(name: string, value: string | string[]): this {
    if (name.toLowerCase() === "set-cookie") this.setCookies = [value].flat();
    if (name === "Location") this.location = String(value);
    return this;
  }
  send(body: unknown): void {
    this.body = body;
  }
  end(): void {}
}

const unverified = (issuer: string) => () => {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer, sub: "ada", aud: "c", iat: now, exp: now + 60, auth_time: now, nonce };
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "RS256", kid: "k" })}.${part(claims)}.${Buffer.alloc(256).toString("base64url")}`;
};

describe("a call to a sign-in service", () => {
  it("reaches the host and port of an issuer on loopback: discovery, token and keys", async () => {
    const answers: Answers = {};
    const { issuer, receiver } = await startProvider(answers);
    answers.idToken = unverified(issuer);
    const { begun } = await signIn(issuer);
    expect(begun).toMatch(`${issuer}/authorize?`);
    expect(receiver.requests.map((request) => request.split(" ", 2).join(" "))).toEqual([
      "GET /.well-known/openid-configuration",
      "GET /.well-known/openid-configuration",
      "POST /token",
      "GET /jwks",
    ]);
  });

  it.each([
    [
      "another port of this machine",
      () => `http://127.0.0.1:${inner.port}/x`,
      /must begin with https:\/\/.* OUTBOUND_ALLOW/,
    ],
    ["another port, by name", () => `http://localhost:${inner.port}/x`, /must begin with https:\/\/.* OUTBOUND_ALLOW/],
    ["another port, by https", () => `https://127.0.0.1:${inner.port}/x`, /is not public.* OUTBOUND_ALLOW/],
    ["a mapped address", () => `https://[::ffff:127.0.0.1]:${inner.port}/x`, /is not public.* OUTBOUND_ALLOW/],
    ["the metadata address", () => "http://169.254.169.254/latest", /must begin with https:\/\/.* OUTBOUND_ALLOW/],
    ["the metadata address, by https", () => "https://169.254.169.254/latest", /is not public.* OUTBOUND_ALLOW/],
  ])("does not go where discovery says the token or the keys are: %s", async (_, url, reason) => {
    for (const endpoint of ["token_endpoint", "jwks_uri"]) {
      logged = [];
      const answers: Answers = { discovery: { [endpoint]: url() } };
      const { issuer } = await startProvider(answers);
      answers.idToken = unverified(issuer);
      expect((await signIn(issuer)).ended).toMatch(/error=OAuthCallback$/);
      expect(logged.join()).toMatch(reason);
    }
    expect(inner.connections).toBe(0);
  });

  it("follows no redirect", async () => {
    const { issuer, receiver } = await startProvider({ redirects: `http://127.0.0.1:${inner.port}/` });
    expect((await signIn(issuer, "127.0.0.1")).begun).toMatch(/error=OAuthSignin$/);
    expect([receiver.requests.length, inner.connections]).toEqual([1, 0]);
  });

  it("does not go to an issuer that is private until OUTBOUND_ALLOW names it", async () => {
    const receiver = await receiveHttps((_, response) => response.end("{}"), { host: "127.0.0.2" });
    const issuer = `https://127.0.0.2:${receiver.port}`;
    expect((await signIn(issuer)).begun).toMatch(/error=OAuthSignin$/);
    expect(receiver.connections).toBe(0);
    expect(logged.join()).toMatch(
      `127.0.0.2 is not public. An operator can allow it by adding 127.0.0.2:${receiver.port} to`,
    );
    logged = [];
    await signIn(issuer, "127.0.0.2");
    expect(receiver.connections).toBe(1);
    // Reached, and no further: its certificate is of nobody we know.
    expect(logged.join()).toMatch("The host offers no TLS, or a certificate that is not valid for it.");
  });

  it("does not read an answer that is far over a megabyte", async () => {
    const { issuer } = await startProvider({ body: `"${"x".repeat(2_000_000)}"` });
    expect((await signIn(issuer)).begun).toMatch(/error=OAuthSignin$/);
    expect(logged.join()).toMatch(`"reason":"aborted"`);
  });
});
