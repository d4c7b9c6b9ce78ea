import type { Caller } from "../api-types";
import { NotRun } from "../gate/endings";
import { type GuardedCall, openGuarded } from "../gate/guarded-call";
import type { McpCall } from "../gate/mcp-call";
import type { GateOptions } from "../gate/options";
import type { GateParts } from "../gate/parts";
import type { CoreTool } from "../gate/spec";
import type { JobStore } from "./job";

/** What there is of a call once it has been answered: whose it was. */
export type ResumeContext = { caller: Caller };

export type ResumerOptions = Omit<
  GateOptions<ResumeContext>,
  "resolveCaller" | "workflow" | "pollSeconds" | "maxRounds" | "formFallback"
> & {
  jobs: JobStore;
  /** Whether this caller may still have something run, asked right before it does. Default: whoever has asked may. */
  isCurrent?: (caller: Caller) => boolean | Promise<boolean>;
  /** Once it aborts nothing more is consumed. */
  signal?: AbortSignal;
};

export type ResumableTool = CoreTool<3, ResumeContext>;

/** What the parts of a resumer share. */
export type ResumerParts = {
  gate: GateParts<ResumeContext>;
  options: ResumerOptions;
  tools: Map<string, ResumableTool>;
};

type Opening = {
  args: unknown;
  caller: Caller;
  signal?: AbortSignal | undefined;
  mcpClient?: McpCall["clientInfo"] | undefined;
};

/**
 * A call as a gate opens it, but with nobody at the other end.
 * @throws NotRun `no_caller`, `too_many_items`; InexactValueError
 */
export async function openWithoutClient(
  { gate, options }: ResumerParts,
  tool: ResumableTool,
  { args, caller, signal = new AbortController().signal, mcpClient }: Opening,
): Promise<GuardedCall> {
  const mcp: McpCall = {
    era: "push",
    can: { url: false, form: false },
    clientInfo: mcpClient,
    sessionId: undefined,
    signal,
    reportProgress: async () => {},
    prompt: () => Promise.reject(new TypeError("there is no MCP client to ask")),
    complete: async () => {},
  };
  const call = await openGuarded(gate, tool, { args, ctx: { caller }, mcp });
  return {
    ...call,
    async verifyCaller() {
      if (options.isCurrent !== undefined && !(await options.isCurrent(call.caller))) throw new NotRun("caller_gone");
    },
  };
}
