import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type InputRequiredResult,
  inputRequired,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { declaredPrompts, readAnswer, reportedName } from "./client-view";
import { formSchemaOf } from "./form-schema";
import type { ClientAnswer, FormPrompt, McpCall, Served, UrlPrompt } from "./mcp-call";
import type { ToolResult } from "./spec";

const FIRST_ROUNDS_REVISION = "2026-07-28";
/** The prompt lives until the decision or the expiry ends it, never by a timer of its own; an approval lives at most a day. */
const PROMPT_TIMEOUT_MS = 90_000_000;

/** Reads a call of SDK v2. What the MCP client can do is declared per request since 2026-07-28, and once per session before. */
export function viewCall(server: McpServer, ctx: ServerContext): McpCall {
  const revision = server.server.getNegotiatedProtocolVersion();
  // Revisions are dates, so their order is that of their text.
  const isModern = revision !== undefined && revision >= FIRST_ROUNDS_REVISION;
  const { mcpReq } = ctx;
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  const seen = {
    can: declaredPrompts(
      isModern ? envelope[CLIENT_CAPABILITIES_META_KEY] : server.server.getClientCapabilities(),
      revision,
    ),
    clientInfo: reportedName(isModern ? envelope[CLIENT_INFO_META_KEY] : server.server.getClientVersion()),
    sessionId: ctx.sessionId,
    signal: mcpReq.signal,
    reportProgress: (message: string) => reportProgress(ctx, message),
  };
  if (isModern)
    return {
      ...seen,
      era: "rounds",
      state: mcpReq.requestState(),
      answerTo: (key) => readAnswer(mcpReq.inputResponses?.[key]),
    };
  return {
    ...seen,
    era: "push",
    prompt: (prompt, options) => askClient(ctx, prompt, options),
    complete: (elicitationId) =>
      mcpReq.notify({ method: "notifications/elicitation/complete", params: { elicitationId } }),
  };
}

/** What a served call is in SDK v2. `serviceUrl` stands where a link would, in the request that the SDK refuses with -32021. */
export function toSdkResult(served: Served<ToolResult>, serviceUrl: string): CallToolResult | InputRequiredResult {
  switch (served.kind) {
    case "result":
      // The SDK's own result, with texts and `_meta` added to it.
      return served.result as CallToolResult;
    case "ended":
      return { isError: served.isError, content: [{ type: "text", text: served.text }], _meta: served.meta };
    case "prompt":
      return inputRequired({
        inputRequests: { [served.key]: inputRequestOf(served.prompt) },
        requestState: served.state,
      });
    case "again":
      return inputRequired({ requestState: served.state });
    case "url_required":
      return inputRequired({ inputRequests: { approval: inputRequired.elicitUrl({ message: "-", url: serviceUrl }) } });
    default:
      return served satisfies never;
  }
}

function inputRequestOf(prompt: UrlPrompt | FormPrompt) {
  const { message } = prompt;
  return prompt.mode === "url"
    ? inputRequired.elicitUrl({ message, url: prompt.url })
    : inputRequired.elicit({ message, requestedSchema: formSchemaOf(prompt) });
}

async function askClient(
  { mcpReq }: ServerContext,
  prompt: UrlPrompt | FormPrompt,
  { elicitationId, signal }: { elicitationId: string; signal: AbortSignal },
): Promise<ClientAnswer> {
  const { message } = prompt;
  const answer = await mcpReq.elicitInput(
    prompt.mode === "url"
      ? { mode: "url", message, url: prompt.url, elicitationId }
      : { mode: "form", message, requestedSchema: formSchemaOf(prompt) },
    { relatedRequestId: mcpReq.id, timeout: PROMPT_TIMEOUT_MS, signal },
  );
  return { action: answer.action, content: answer.content ?? {} };
}

/** Only an MCP client that gave a token wants to know; some then extend their own time-out. */
async function reportProgress({ mcpReq }: ServerContext, message: string): Promise<void> {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined || mcpReq.signal.aborted) return;
  const params = { progressToken, progress: Math.round(performance.now()), message };
  await mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
}
