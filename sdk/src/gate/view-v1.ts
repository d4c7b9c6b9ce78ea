import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import type { CallToolResult, ServerNotification, ServerRequest } from "@modelcontextprotocol/sdk/types.js";
import { declaredPrompts, reportedName } from "./client-view";
import { formSchemaOf } from "./form-schema";
import type { ClientAnswer, FormPrompt, McpCall, Served, UrlPrompt } from "./mcp-call";
import type { ToolResult } from "./spec";

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** The prompt lives until the decision or the expiry ends it, never by a timer of its own; an approval lives at most a day. */
const PROMPT_TIMEOUT_MS = 90_000_000;
/** The newest that SDK v1 speaks. It does not tell the negotiated one; only this has links at all, and only who declares them gets one. */
const REVISION = "2025-11-25";

/** Reads a call of SDK v1: revision 2025-11-25 and older, in a session. */
export function viewCall(server: McpServer, extra: Extra): McpCall {
  return {
    era: "push",
    can: declaredPrompts(server.server.getClientCapabilities(), REVISION),
    clientInfo: reportedName(server.server.getClientVersion()),
    sessionId: extra.sessionId,
    signal: extra.signal,
    reportProgress: (message) => reportProgress(extra, message),
    prompt: (prompt, options) => askClient(server, extra, prompt, options),
    complete: (elicitationId) =>
      extra.sendNotification({ method: "notifications/elicitation/complete", params: { elicitationId } }),
  };
}

/** What a served call is in SDK v1. */
export function toSdkResult(served: Served<ToolResult>): CallToolResult {
  switch (served.kind) {
    case "result":
      // The SDK's own result, with texts and `_meta` added to it.
      return served.result as CallToolResult;
    case "ended":
      return { isError: served.isError, content: [{ type: "text", text: served.text }], _meta: served.meta };
    case "prompt":
    case "again":
    case "url_required":
      throw new Error("rounds do not exist in this revision");
    default:
      return served satisfies never;
  }
}

async function askClient(
  server: McpServer,
  extra: Extra,
  prompt: UrlPrompt | FormPrompt,
  { elicitationId, signal }: { elicitationId: string; signal: AbortSignal },
): Promise<ClientAnswer> {
  const { message } = prompt;
  // SDK v1 goes on listening when the answer is there, and would then cancel a request that is over.
  const untilAnswered = new AbortController();
  const abort = () => untilAnswered.abort(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  const options = { relatedRequestId: extra.requestId, timeout: PROMPT_TIMEOUT_MS, signal: untilAnswered.signal };
  const answer = await server.server
    .elicitInput(
      prompt.mode === "url"
        ? { mode: "url", message, url: prompt.url, elicitationId }
        : { mode: "form", message, requestedSchema: formSchemaOf(prompt) },
      options,
    )
    .finally(() => signal.removeEventListener("abort", abort));
  return { action: answer.action, content: answer.content ?? {} };
}

/** Only an MCP client that gave a token wants to know; some then extend their own time-out. */
async function reportProgress({ _meta, signal, sendNotification }: Extra, message: string): Promise<void> {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined || signal.aborted) return;
  const params = { progressToken, progress: Math.round(performance.now()), message };
  await sendNotification({ method: "notifications/progress", params }).catch(() => undefined);
}
