import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { callerFromAuthInfo, createGate, type Gate, type GateOptions } from "@countersign/mcp";
import type { ApprovedSpec } from "@countersign/mcp/gate/spec";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { type CallToolResult, createMcpHandler, McpServer, type ServerContext } from "@modelcontextprotocol/server";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { type FakeService, startFakeService } from "./fake-service";

export type SmallServerOptions = {
  service: FakeService;
  addTools: (server: McpServer, gate: Gate) => void;
  gate?: Partial<GateOptions>;
  /** Whether the server knows the gate's check of `requestState`. */
  hook?: boolean;
  extra?: Record<string, unknown> | undefined;
  responseMode?: "auto" | "sse";
};

/** An MCP server of revision 2026-07-28 with the tools of one test; every call is Alice's, unless `extra` says otherwise. */
export async function startSmallServer(options: SmallServerOptions): Promise<{ url: string; close(): Promise<void> }> {
  const { service, addTools, hook = true, responseMode = "sse" } = options;
  const { url, apiKey } = service;
  // How many approvals one piece of work may ask for is what its own tests are about.
  const settings = { maxApprovalsPerWorkflow: 1000, ...options.gate };
  const gate = createGate({ url, apiKey, resolveCaller: callerFromAuthInfo, ...settings });
  const mcp = createMcpHandler(
    () => {
      const verify = hook ? { requestState: { verify: gate.verifyRequestState } } : {};
      const server = new McpServer({ name: "small", version: "1.0.0" }, verify);
      addTools(server, gate);
      return server;
    },
    { legacy: "reject", responseMode },
  );
  const extra = "extra" in options ? options.extra : { iss: "https://as.example.com", sub: "alice" };
  const authInfo = { token: "t", clientId: "chat-app", scopes: [], ...(extra === undefined ? {} : { extra }) };
  const handle = toNodeHandler({ fetch: (request) => mcp.fetch(request, { authInfo }) });
  const http = createServer((req, res) => {
    const { method = "GET", url: path = "/" } = req;
    handle(Object.assign(req, { method, url: path }), res).catch(() => res.destroy());
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/`,
    async close() {
      await mcp.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

export type Args = { list: string[]; note?: string | undefined };

type SmallStageOptions = Partial<SmallServerOptions> & {
  presentation?: (args: Args) => { title: string };
  preconditions?: (args: Args, ctx: ServerContext) => Promise<Record<string, unknown>>;
  strict?: boolean;
  checks?: () => { label: string; claimed: number; actual: number }[];
  hooks?: Pick<ApprovedSpec<Args, ServerContext>, "onDecline" | "onCancel" | "onExpire" | "onWithdrawn">;
};

/** A small server with one guarded tool, `do_it`, beside the service's stand-in; both are closed after the test. */
export async function setSmallStage(handler: (args: Args) => CallToolResult, options: SmallStageOptions = {}) {
  const service = await startFakeService();
  onTestFinished(service.close);
  const inputSchema = z.object({ list: z.array(z.string()), note: z.string().optional() });
  const {
    presentation = () => ({ title: "Do it" }),
    preconditions = async () => ({}),
    strict = false,
    checks,
    hooks,
  } = options;
  const addTools = (server: McpServer, gate: Gate) => {
    const more = { ...(checks === undefined ? {} : { checks }), ...hooks };
    gate.guard({ server, tool: "do_it", tier: 3, inputSchema, presentation, preconditions, strict, ...more }, (args) =>
      handler(args),
    );
  };
  const server = await startSmallServer({ service, addTools, ...options });
  onTestFinished(server.close);
  const call = { url: server.url, tool: "do_it", args: { list: ["b", "a"] } as Record<string, unknown> };
  return { service, call };
}
