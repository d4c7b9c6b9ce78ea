import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  type McpServer,
  type OAuthTokenVerifier,
  originValidationResponse,
  requireBearerAuth,
} from "@modelcontextprotocol/server";
import { createSessions } from "../crm-server/sessions";

export type ServeOptions = {
  /** Makes the server with its tools: once for each session of 2025-11-25, once for each request of 2026-07-28. */
  createServer: () => McpServer;
  /** Whose a bearer token is. */
  verifier: OAuthTokenVerifier;
  /** Default 0: a free port. */
  port?: number;
  host?: string;
  /** Host names under which it may be called and from which a page may call it, beside those of loopback. */
  allowedHosts?: readonly string[];
};

export type Served = {
  /** The MCP endpoint. */
  url: string;
  close(): Promise<void>;
};

/** One MCP endpoint over Streamable HTTP for both eras. */
export async function serveMcp(options: ServeOptions): Promise<Served> {
  const { fetch, close: closeEndpoint } = createEndpoint(options);
  const handle = toNodeHandler({ fetch });
  const http = createServer((req, res) => {
    // Always set on a server's side; the type says so for both sides.
    const { method = "GET", url = "/" } = req;
    handle(Object.assign(req, { method, url }), res).catch(() => res.destroy());
  });
  // A call may wait for a person as long as the approval lives.
  http.requestTimeout = 0;
  const { port = 0, host = "127.0.0.1" } = options;
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen(port, host, resolve);
  });
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${(http.address() as AddressInfo).port}/mcp`,
    async close() {
      await closeEndpoint();
      await closeHttp(http);
    },
  };
}

type Endpoint = { fetch: (request: Request) => Promise<Response>; close: () => Promise<void> };

/** The order matters: where the request comes from, who it is, and only then what it says. */
function createEndpoint({ createServer: create, verifier, allowedHosts = [] }: ServeOptions): Endpoint {
  const authenticate = requireBearerAuth({ verifier });
  const modern = createMcpHandler(create, { legacy: "reject", responseMode: "sse" });
  const sessions = createSessions(create);
  return {
    async fetch(request) {
      if (new URL(request.url).pathname !== "/mcp") return new Response(null, { status: 404 });
      const refused =
        hostHeaderValidationResponse(request, [...localhostAllowedHostnames(), ...allowedHosts]) ??
        originValidationResponse(request, [...localhostAllowedOrigins(), ...allowedHosts]);
      if (refused) return refused;
      const authInfo = await authenticate(request);
      if (authInfo instanceof Response) return authInfo;
      if (await isLegacyRequest(request)) return await sessions.handle(request, authInfo);
      return await modern.fetch(request, { authInfo });
    },
    async close() {
      await Promise.all([modern.close(), sessions.close()]);
    },
  };
}

async function closeHttp(http: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    http.close(() => resolve());
    http.closeAllConnections();
  });
}
