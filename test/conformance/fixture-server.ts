import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createGate, isApprovalId } from "@countersign/mcp";
import { createFakeCountersign } from "@countersign/mcp/fake";
import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  McpServer,
  originValidationResponse,
} from "@modelcontextprotocol/server";
import { createSessions } from "@/examples/crm-server/sessions";
import { addFixtureTools, fixtureStates } from "./fixture-tools";

/** An MCP server with the kit in it, for both eras, with the tools that the official conformance suite calls. */
export async function startFixtureServer(): Promise<{ url: string; close(): Promise<void> }> {
  const fake = await createFakeCountersign();
  const caller = { iss: "https://as.example.com", sub: "alice", clientId: "suite" };
  const gate = createGate({ ...fake.gate, resolveCaller: () => caller });
  const create = () => {
    const server = new McpServer(
      { name: "fixture", version: "1.0.0" },
      {
        capabilities: { logging: {} },
        requestState: {
          verify: async (state, ctx) =>
            isApprovalId(state)
              ? await gate.verifyRequestState(state, ctx)
              : await fixtureStates.verify(state, ctx).catch(() => gate.verifyRequestState(state, ctx)),
        },
      },
    );
    addFixtureTools(server, gate);
    return server;
  };
  const modern = createMcpHandler(create, { legacy: "reject" });
  const sessions = createSessions(create);
  const authInfo = { token: "t", clientId: caller.clientId, scopes: [] };
  const handle = toNodeHandler({
    async fetch(request) {
      const refused =
        hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
        originValidationResponse(request, localhostAllowedOrigins());
      if (refused) return refused;
      if (await isLegacyRequest(request)) return await sessions.handle(request, authInfo);
      return await modern.fetch(request, { authInfo });
    },
  });
  const http = createServer((req, res) => {
    const { method = "GET", url = "/" } = req;
    handle(Object.assign(req, { method, url }), res).catch(() => res.destroy());
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    async close() {
      await Promise.all([modern.close(), sessions.close()]);
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
