import { hookText } from "./ending-hook";
import { endedCall, NotRun, toNotRun } from "./endings";
import { type GuardedCall, openGuarded } from "./guarded-call";
import type { McpCall, Served } from "./mcp-call";
import type { GateParts } from "./parts";
import { serveAttested } from "./serve-attested";
import { serveInbox } from "./serve-inbox";
import { servePush } from "./serve-push";
import { serveUntrusted } from "./serve-read";
import { serveRound } from "./serve-round";
import { serveWrite } from "./serve-write";
import type { CoreTool, ToolResult } from "./spec";

/** A call on its way to a tool of some tier. */
export type Given<Ctx> = {
  args: unknown;
  ctx: Ctx;
  mcp: McpCall;
  /** False: the server's tools need scopes, and the call's token lacks that of this one. */
  isInScope: boolean;
};
export type AnyTool<Ctx> = CoreTool<0, Ctx> | CoreTool<1, Ctx> | CoreTool<2, Ctx> | CoreTool<3, Ctx>;

/** Serves a call as its tool's tier demands. Whatever is thrown before a guarded handler runs becomes a text that says so. */
export async function serve<Ctx>(
  parts: GateParts<Ctx>,
  tool: AnyTool<Ctx>,
  given: Given<Ctx>,
): Promise<Served<ToolResult>> {
  if (!given.isInScope) return await orEnded(parts, tool.tool, () => Promise.reject(new NotRun("scope_missing")));
  switch (tool.tier) {
    case 0:
      return { kind: "result", result: await tool.handler(given.args, given.ctx, undefined) };
    case 1:
      return await serveUntrusted(parts, tool, given);
    case 2:
      return await orEnded(parts, tool.tool, () => serveWrite(parts, tool, given));
    case 3:
      return await orEnded(
        parts,
        tool.tool,
        async () => await climb(await openGuarded(parts, tool, given)),
        (notRun) => hookText(parts, tool, given, notRun),
      );
    default:
      return tool satisfies never;
  }
}

/** The ladder: the safest way to a person that this MCP client can go, chosen for each request anew. */
async function climb(call: GuardedCall): Promise<Served<ToolResult>> {
  const { mcp, parts } = call;
  // A round that brings a state goes on where it was, whatever it declares by now.
  const isOngoing = mcp.era === "rounds" && mcp.state !== undefined;
  const isAttested = !mcp.can.url && mcp.can.form && parts.settings.formFallback === "client_attested" && !call.strict;
  if (isAttested) return await serveAttested(call);
  if (mcp.can.url || isOngoing) return mcp.era === "rounds" ? await serveRound(call, mcp) : await servePush(call, mcp);
  if (!call.strict) return await serveInbox(call);
  if (mcp.era === "rounds") return { kind: "url_required" };
  throw new NotRun("url_required");
}

async function orEnded<Ctx>(
  parts: GateParts<Ctx>,
  tool: string,
  work: () => Promise<Served<ToolResult>>,
  more: (notRun: NotRun) => Promise<string | undefined> = async () => undefined,
): Promise<Served<ToolResult>> {
  try {
    return await work();
  } catch (error) {
    const notRun = toNotRun(error);
    const { approvalId } = notRun.facts;
    const about = { tool, ending: notRun.ending };
    parts.emit({ type: "not_run", ...about, ...(approvalId === undefined ? {} : { approvalId }) });
    return endedCall(tool, notRun, { locale: parts.settings.locale, more: await more(notRun) });
  }
}
