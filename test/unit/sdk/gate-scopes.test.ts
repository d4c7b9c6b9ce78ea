import { callerFromAuthInfo, createGate } from "@countersign/mcp";
import { createFakeCountersign } from "@countersign/mcp/fake";
import { createGate as createGateV1 } from "@countersign/mcp/v1";
import { McpServer as McpServerV1 } from "@modelcontextprotocol/sdk/server/mcp.js";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const inputSchema = z.object({});
const said = () => ({ content: [{ type: "text" as const, text: "ran" }] });
const metadata = "https://mcp.example.com/.well-known/oauth-protected-resource";

/** A server with two guarded tools and one that is not, called with a token of these scopes. */
async function setServer(scopes: string[] | undefined) {
  const fake = await createFakeCountersign();
  const gate = createGate({ ...fake.gate, resolveCaller: callerFromAuthInfo });
  const handler = createMcpHandler(
    () => {
      const server = new McpServer({ name: "s", version: "1" });
      gate.scopes(server);
      for (const tool of ["write_it", "read_it"])
        gate.guard(
          { server, tool, tier: tool === "read_it" ? 0 : 2, inputSchema } as Parameters<
            typeof gate.guard<0, typeof inputSchema>
          >[0],
          said,
        );
      server.registerTool("plain", { inputSchema }, said);
      return server;
    },
    { legacy: "reject", responseMode: "auto" },
  );
  const extra = { iss: "https://as.example.com", sub: "alice" };
  const authInfo = { token: "t", clientId: "app", scopes: scopes ?? [], extra, resourceMetadataUrl: metadata };
  const send = async (method: string, params: Record<string, unknown>) => {
    const response = await handler.fetch(
      new Request("https://mcp.example.com/mcp", {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": method,
          ...(typeof params["name"] === "string" ? { "mcp-name": params["name"] } : {}),
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method,
          params: {
            ...params,
            _meta: {
              "io.modelcontextprotocol/protocolVersion": "2026-07-28",
              "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
              "io.modelcontextprotocol/clientCapabilities": {},
            },
          },
        }),
      }),
      scopes === undefined ? {} : { authInfo },
    );
    const body = (await response.json().catch(() => ({}))) as { result?: Record<string, unknown> };
    return { status: response.status, challenge: response.headers.get("www-authenticate"), result: body.result };
  };
  return {
    list: async () => (await send("tools/list", {})).result as { tools: { name: string }[]; cacheScope?: string },
    call: (name: string) => send("tools/call", { name, arguments: {} }),
  };
}

const namesOf = ({ tools }: { tools: { name: string }[] }) => tools.map(({ name }) => name);

describe("the token's scopes as the ceiling", () => {
  it("a tool is listed for tokens that may call it, always in the same order, and the list is the token's own", async () => {
    const both = await setServer(["tools:call:read_it", "tools:call:write_it"]);
    const first = await both.list();
    expect(namesOf(first)).toEqual(["write_it", "read_it", "plain"]);
    expect(first.cacheScope).toBe("private");
    expect(namesOf(await both.list())).toEqual(namesOf(first));
    expect(namesOf(await (await setServer(["tools:call:read_it"])).list())).toEqual(["read_it", "plain"]);
    for (const scopes of [
      [],
      ["tools:call:"],
      ["tools:call:*"],
      ["tools:call:READ_IT"],
      ["xtools:call:read_it"],
      undefined,
    ])
      expect(namesOf(await (await setServer(scopes)).list())).toEqual(["plain"]);
  });

  it("a call without the scope is answered 403 insufficient_scope with what to ask for, and does not run", async () => {
    const { call } = await setServer(["tools:call:read_it"]);
    expect((await call("read_it")).status).toBe(200);
    const refused = await call("write_it");
    expect(refused.status).toBe(403);
    expect(refused.challenge).toContain('error="insufficient_scope"');
    expect(refused.challenge).toContain('scope="tools:call:write_it"');
    expect(refused.challenge).toContain(`resource_metadata="${metadata}"`);
  });

  it("a call without any token does not run either", async () => {
    const { call } = await setServer(undefined);
    expect((await call("read_it")).result).toMatchObject({
      isError: true,
      _meta: { "countersign/ending": "scope_missing" },
    });
  });

  it("is refused where it comes too late", async () => {
    const fake = await createFakeCountersign();
    const gate = createGate({ ...fake.gate, resolveCaller: () => undefined });
    const server = new McpServer({ name: "s", version: "1" });
    gate.guard({ server, tool: "read_it", tier: 0, inputSchema }, said);
    expect(() => gate.scopes(server)).toThrow("before the server's first guarded tool");
  });

  it("over SDK v1: names what a request lacks, for an answer of status 403", async () => {
    const fake = await createFakeCountersign();
    const gate = createGateV1({ ...fake.gate, resolveCaller: () => undefined });
    const server = new McpServerV1({ name: "s", version: "1" });
    const scopes = gate.scopes(server);
    for (const tool of ["a", "b"]) gate.guard({ server, tool, tier: 0, inputSchema: {} }, said);
    expect(scopes.all()).toEqual(["tools:call:a", "tools:call:b"]);
    const call = (name: string) => ({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name } });
    expect(scopes.challenge(call("a"), ["tools:call:a"])).toBeUndefined();
    expect(scopes.challenge(call("other"), [])).toBeUndefined();
    expect(scopes.challenge({ method: "tools/list" }, [])).toBeUndefined();
    expect(scopes.challenge([call("a"), call("b")], ["tools:call:a"], metadata)).toEqual({
      status: 403,
      headers: {
        "WWW-Authenticate": `Bearer error="insufficient_scope", scope="tools:call:b", resource_metadata="${metadata}"`,
      },
    });
  });
});
