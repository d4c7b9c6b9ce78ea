import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { callerFromAuthInfo, createGate, type Gate, type GateOptions } from "@countersign/mcp/v1";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { onTestFinished } from "vitest";
import type { FakeService } from "./fake-service";

type Options = {
  service: FakeService;
  addTools: (server: McpServer, gate: Gate) => void;
  gate?: Partial<GateOptions>;
  extra?: Record<string, unknown>;
  /** Without sessions the server knows nothing of its MCP client. */
  stateless?: boolean;
};

/** An MCP server made with SDK v1, over Streamable HTTP; every call is Alice's, unless `extra` says otherwise. Closed after the test. */
export async function startV1Server(options: Options): Promise<{ url: string }> {
  const { service, addTools, extra = { iss: "https://as.example.com", sub: "alice" } } = options;
  const { url, apiKey } = service;
  const settings = { maxApprovalsPerWorkflow: 1000, ...options.gate };
  const gate = createGate({ url, apiKey, resolveCaller: callerFromAuthInfo, ...settings });
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const auth = { token: "t", clientId: "chat-app", scopes: [], extra };

  const open = async () => {
    const transport = new StreamableHTTPServerTransport({
      ...(options.stateless === true ? {} : { sessionIdGenerator: randomUUID }),
      onsessioninitialized: (id) => {
        transports.set(id, transport);
      },
    });
    const server = new McpServer({ name: "small-v1", version: "1.0.0" });
    addTools(server, gate);
    await server.connect(transport as Parameters<typeof server.connect>[0]);
    return transport;
  };
  const serve = async (req: IncomingMessage, res: ServerResponse) => {
    const id = req.headers["mcp-session-id"];
    const transport = transports.get(String(id)) ?? (await open());
    await transport.handleRequest(Object.assign(req, { auth }), res);
  };
  const http = createServer((req, res) => void serve(req, res).catch(() => res.destroy()));
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(async () => {
    await Promise.all([...transports.values()].map((transport) => transport.close()));
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/` };
}
