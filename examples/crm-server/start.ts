import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { callerFromAuthInfo, createGate, type GateOptions } from "@countersign/mcp";
import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
  requireBearerAuth,
} from "@modelcontextprotocol/server";
import { openProjects, type Projects } from "./projects";
import { createSessions } from "./sessions";
import { createTokenVerifier, type Tokens } from "./tokens";
import { createCrmServer } from "./tools";

export type CrmServerOptions = {
  /** Where Countersign is, this server's key there, and whatever else the gate takes. */
  gate: Omit<GateOptions, "resolveCaller">;
  tokens: Tokens;
  /** 0 takes a free port. */
  port?: number;
  host?: string;
  /** Host names under which it may be called and from which a page may call it, beside those of loopback. */
  allowedHosts?: readonly string[];
  /** Keeps the data in this file; without it in memory. */
  dataFile?: string;
};

export type CrmServer = {
  /** The MCP endpoint. */
  url: string;
  projects: Projects;
  close(): Promise<void>;
};

/** Starts the example: one MCP endpoint over Streamable HTTP for both eras, callers known by bearer token. */
export async function startCrmServer(options: CrmServerOptions): Promise<CrmServer> {
  const projects = openProjects(options.dataFile);
  const gate = createGate({ ...options.gate, resolveCaller: callerFromAuthInfo });
  const { fetch, close: closeEndpoint } = createEndpoint(() => createCrmServer(gate, projects), options);
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
    projects,
    async close() {
      await closeEndpoint();
      await closeHttp(http);
    },
  };
}

type Endpoint = { fetch: (request: Request) => Promise<Response>; close: () => Promise<void> };

/** The order matters: where the request comes from, who it is, and only then what it says. */
function createEndpoint(
  createMcpServer: () => ReturnType<typeof createCrmServer>,
  { tokens, allowedHosts = [] }: CrmServerOptions,
): Endpoint {
  const authenticate = requireBearerAuth({ verifier: createTokenVerifier(tokens) });
  const modern = createMcpHandler(createMcpServer, { legacy: "reject", responseMode: "sse" });
  const sessions = createSessions(createMcpServer);
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
