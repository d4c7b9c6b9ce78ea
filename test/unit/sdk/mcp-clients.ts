import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  ElicitationCompleteNotificationSchema,
  ElicitRequestSchema,
  CallToolResultSchema as ResultSchemaV1,
} from "@modelcontextprotocol/sdk/types.js";

export type ClientAnswer = "accept" | "decline" | "cancel";
export type Prompt = { message: string; url: string; elicitationId?: string | undefined };
export type ToolResult = {
  isError?: boolean | undefined;
  content: unknown[];
  _meta?: Record<string, unknown> | undefined;
};
export type Elicitation = { form?: Record<string, never>; url?: Record<string, never> };

export type TestClientOptions = {
  url: string;
  token: string;
  /** What it declares; `undefined` declares nothing. */
  elicitation?: Elicitation | undefined;
  onPrompt?: (prompt: Prompt) => ClientAnswer | Promise<ClientAnswer>;
};

/** A real MCP client over real HTTP, with every byte that reached it. */
export type TestClient = {
  call(tool: string, args: Record<string, unknown>, options?: { signal?: AbortSignal }): Promise<ToolResult>;
  prompts: Prompt[];
  /** Elicitation ids of the completion notifications that it received. */
  completed: string[];
  /** Bodies of all requests and answers, whole or as far as they came. */
  wire: { sent: string[]; received: string[] };
  sessionId(): string | undefined;
  close(): Promise<void>;
};

export const BOTH_MODES: Elicitation = { form: {}, url: {} };

export const clientKinds = { modern: connectModern, legacy: connectLegacy, v1: connectV1 };

/** The 2.4 client, pinned to revision 2026-07-28. */
export async function connectModern(options: TestClientOptions): Promise<TestClient> {
  return await connectV2(options, { pin: "2026-07-28" });
}

/** The 2.4 client in a session of revision 2025-11-25. */
export async function connectLegacy(options: TestClientOptions): Promise<TestClient> {
  return await connectV2(options, "legacy");
}

async function connectV2(options: TestClientOptions, mode: "legacy" | { pin: string }): Promise<TestClient> {
  const { recorded, fetch, onPrompt } = recorder(options);
  const client = new Client(
    { name: "test-client", version: "2.4.0" },
    { capabilities: capabilitiesOf(options), versionNegotiation: { mode } },
  );
  if (options.elicitation !== undefined) {
    client.setRequestHandler("elicitation/create", async ({ params }) => await onPrompt(params));
  }
  client.setNotificationHandler("notifications/elicitation/complete", ({ params }) => {
    recorded.completed.push(params.elicitationId);
  });
  const transport = new StreamableHTTPClientTransport(new URL(options.url), { requestInit: bearer(options), fetch });
  await client.connect(transport);
  return {
    ...recorded,
    call: async (name, args, callOptions = {}) => await client.callTool({ name, arguments: args }, callOptions),
    sessionId: () => transport.sessionId,
    close: () => client.close(),
  };
}

/** The 1.32 client: revision 2025-11-25 and older only. */
export async function connectV1(options: TestClientOptions): Promise<TestClient> {
  const { recorded, fetch, onPrompt } = recorder(options);
  const client = new ClientV1({ name: "test-client-v1", version: "1.32.2" }, { capabilities: capabilitiesOf(options) });
  if (options.elicitation !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => await onPrompt(params));
  }
  client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => {
    recorded.completed.push(params.elicitationId);
  });
  const transport = new TransportV1(new URL(options.url), { requestInit: bearer(options), fetch });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return {
    ...recorded,
    call: async (name, args, callOptions = {}) =>
      ResultSchemaV1.parse(await client.callTool({ name, arguments: args }, undefined, callOptions)),
    sessionId: () => transport.sessionId,
    close: () => client.close(),
  };
}

function capabilitiesOf({ elicitation }: TestClientOptions) {
  return elicitation === undefined ? {} : { elicitation };
}

function bearer({ token }: TestClientOptions): RequestInit {
  return { headers: { authorization: `Bearer ${token}` } };
}

function recorder({ onPrompt = () => "accept" }: TestClientOptions) {
  const prompts: Prompt[] = [];
  const completed: string[] = [];
  const wire: TestClient["wire"] = { sent: [], received: [] };
  return {
    recorded: { prompts, completed, wire },
    async onPrompt(params: unknown): Promise<{ action: ClientAnswer }> {
      const prompt = params as Prompt;
      prompts.push(prompt);
      return { action: await onPrompt(prompt) };
    },
    async fetch(input: string | URL, init?: RequestInit): Promise<Response> {
      if (typeof init?.body === "string") wire.sent.push(init.body);
      const response = await fetch(input, init);
      const index = wire.received.push("") - 1;
      if (response.body === null) return response;
      const decoder = new TextDecoder();
      const tap = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          wire.received[index] += decoder.decode(chunk, { stream: true });
          controller.enqueue(chunk);
        },
      });
      return new Response(response.body.pipeThrough(tap), response);
    },
  };
}
