import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { callerFromAuthInfo, configuredCaller } from "@countersign/mcp";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { AuthInfo } from "@modelcontextprotocol/server";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { describe, expect, it, onTestFinished } from "vitest";
import { createApiTokenVerifier } from "@/examples/callers/api-tokens";
import { createIntrospectionVerifier } from "@/examples/callers/introspection";
import { createJwtVerifier } from "@/examples/callers/jwt";
import { startFakeService } from "./fake-service";

const issuer = "https://as.example.com";
const audience = "https://mcp.example.com/mcp";
const now = () => Math.floor(Date.now() / 1000);
const callerIn = (authInfo: AuthInfo) => callerFromAuthInfo({ http: { authInfo } });

async function listen(listener: RequestListener): Promise<string> {
  const http = createServer(listener);
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(() => void http.close());
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/`;
}

describe("a caller from a JWT access token", () => {
  it("S31: is the subject of a token that this server's authorization server made for this server, and nobody for any other", async () => {
    const { publicKey, privateKey } = await generateKeyPair("ES256");
    const { privateKey: foreignKey } = await generateKeyPair("ES256");
    const jwk = { ...(await exportJWK(publicKey)), kid: "k", alg: "ES256" };
    const jwksUrl = await listen((_req, res) => res.end(JSON.stringify({ keys: [jwk] })));
    const verifier = createJwtVerifier({ issuer, audience, jwksUrl });
    const good = { iss: issuer, aud: audience, sub: "alice", client_id: "app", exp: now() + 60, scope: "a b" };
    const sign = (claims: Record<string, unknown>, { typ = "at+jwt", key = privateKey } = {}) =>
      new SignJWT({ ...good, ...claims }).setProtectedHeader({ alg: "ES256", kid: "k", typ }).sign(key);
    const verified = await verifier.verifyAccessToken(await sign({}));
    expect(callerIn(verified)).toEqual({ iss: issuer, sub: "alice", clientId: "app" });
    expect(verified.scopes).toEqual(["a", "b"]);
    const bad = [
      sign({ aud: "https://other.example.com/" }),
      sign({ iss: "https://evil.example.com" }),
      sign({ exp: now() - 1 }),
      sign({ sub: undefined }),
      sign({ client_id: undefined }),
      sign({}, { typ: "JWT" }),
      sign({}, { key: foreignKey }),
    ];
    for (const token of bad)
      await expect(verifier.verifyAccessToken(await token)).rejects.toMatchObject({ code: "invalid_token" });
  });
});

describe("a caller from an introspected token", () => {
  it("S31: is the subject of an active token for this server; any other answer is nobody", async () => {
    let answer: unknown = {};
    const seen: string[] = [];
    const url = await listen((req, res) => {
      seen.push(String(req.headers.authorization));
      res.end(JSON.stringify(answer));
    });
    const verifier = createIntrospectionVerifier({ issuer, audience, url, clientId: "mcp", clientSecret: "s:1" });
    const good = { active: true, sub: "alice", client_id: "app", aud: [audience, "x"], exp: now() + 60, iss: issuer };
    answer = good;
    expect(callerIn(await verifier.verifyAccessToken("t"))).toEqual({ iss: issuer, sub: "alice", clientId: "app" });
    expect(Buffer.from((seen[0] ?? "").slice(6), "base64").toString()).toBe("mcp:s%3A1");
    const wrong = [
      { active: false },
      { aud: "other" },
      { iss: "https://evil.example.com" },
      { sub: undefined },
      { aud: undefined },
    ];
    for (const change of wrong) {
      answer = { ...good, ...change };
      await expect(verifier.verifyAccessToken("t")).rejects.toMatchObject({ code: "invalid_token" });
    }
  });
});

describe("a caller from a server's own API token", () => {
  it("is its owner at the server's own issuer, found by the token's hash; an unknown token is nobody", async () => {
    const hash = createHash("sha256").update("secret-token").digest("hex");
    const owner = { userId: "u1", tokenName: "laptop", expiresAt: now() + 60 };
    const verifier = createApiTokenVerifier("https://crm.example.com/users", async (tokenHash) =>
      tokenHash === hash ? owner : undefined,
    );
    expect(callerIn(await verifier.verifyAccessToken("secret-token"))).toEqual({
      iss: "https://crm.example.com/users",
      sub: "u1",
      clientId: "laptop",
    });
    await expect(verifier.verifyAccessToken("other")).rejects.toMatchObject({ code: "invalid_token" });
  });
});

describe("a caller from a token that has expired by now", () => {
  it("is nobody", () => {
    const authInfo = { token: "t", clientId: "app", scopes: [], extra: { iss: issuer, sub: "alice" } };
    expect(callerIn({ ...authInfo, expiresAt: now() + 5 })).toBeDefined();
    expect(callerIn({ ...authInfo, expiresAt: now() })).toBeUndefined();
  });
});

describe("the configured caller of a server over stdio", () => {
  it("S22: must be whole", () => {
    expect(() => configuredCaller({ iss: issuer, sub: "" })).toThrow("needs iss and sub");
  });

  it("S22: is asked, in a process of its own, and the tool runs once after the accept", async () => {
    const service = await startFakeService();
    onTestFinished(service.close);
    const client = new Client({ name: "t", version: "1" }, { capabilities: { elicitation: { url: {} } } });
    client.setRequestHandler("elicitation/create", async () => ({ action: "accept" as const }));
    const script = path.join(import.meta.dirname, "../../../examples/callers/stdio.ts");
    const env = {
      COUNTERSIGN_URL: service.url,
      COUNTERSIGN_API_KEY: service.apiKey,
      CALLER_ISS: issuer,
      CALLER_SUB: "alice",
    };
    const settings = {
      command: process.execPath,
      args: ["--import", "tsx", script],
      env: { ...env, PATH: process.env["PATH"] ?? "" },
    };
    await client.connect(new StdioClientTransport(settings));
    onTestFinished(() => client.close());
    const asked = service.nextAsked();
    const result = client.callTool({ name: "publish_note", arguments: { text: "hello" } });
    const { id, caller } = await asked;
    expect(caller).toEqual({ iss: issuer, sub: "alice" });
    await service.decide(id, "accept");
    expect((await result).content).toEqual([{ type: "text", text: "Published 5 characters." }]);
  });
});
