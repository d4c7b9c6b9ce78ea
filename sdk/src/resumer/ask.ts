import type { Caller } from "../api-types";
import { type Minted, withdraw } from "../gate/ask";
import { NotRun, toNotRun } from "../gate/endings";
import type { GuardedCall } from "../gate/guarded-call";
import { askInInbox, whereToFind } from "../gate/serve-inbox";
import { endingText, isErrorAfter } from "../gate/texts";
import { openWithoutClient, type ResumableTool, type ResumerParts } from "./context";
import type { JobEnd, JobStore, Resumed } from "./job";

export type Asking = {
  /** Whose call it is, from its verified access token; nobody: nothing is asked. */
  caller: Caller | undefined;
  /** Self-reported, shown as such. */
  mcpClient?: { name: string; version?: string };
  /** Ends with the call. */
  signal?: AbortSignal;
};

/** A result for `tools/call` of either SDK. */
export type AskedResult = {
  isError: boolean;
  content: { type: "text"; text: string }[];
  _meta: Record<string, unknown>;
};

/** Asks, keeps the job, and looks how it stands; what kept it from running is the result, as a gate would say it. */
export async function askAndKeep(
  parts: ResumerParts,
  tool: ResumableTool,
  given: { args: unknown; asking: Asking; resume: (approvalId: string) => Promise<Resumed> },
): Promise<AskedResult> {
  const { emit, settings } = parts.gate;
  try {
    const { caller, ...asking } = given.asking;
    if (caller === undefined) throw new NotRun("no_caller");
    const call = await openWithoutClient(parts, tool, { args: given.args, caller, ...asking });
    const minted = await askInInbox(call);
    await keep(parts.options.jobs, call, minted);
    // Read once more now that the job is there: a decision that came before it found nothing to wake.
    const resumed = await given.resume(minted.id);
    if (resumed.kind === "ended")
      return resultOf(minted.id, resumed, !(resumed.ran && resumed.outcome === "succeeded"));
    if (resumed.kind === "started") throw new NotRun("already_run_unknown", { approvalId: minted.id });
    throw new NotRun("runs_when_approved", { approvalId: minted.id, inbox: whereToFind(call, minted) });
  } catch (error) {
    const notRun = toNotRun(error);
    const { approvalId } = notRun.facts;
    const about = { tool: tool.tool, ending: notRun.ending };
    emit({ type: "not_run", ...about, ...(approvalId === undefined ? {} : { approvalId }) });
    const text = endingText(notRun.ending, { tool: tool.tool, ...notRun.facts }, settings.locale);
    return resultOf(approvalId, { ran: false, ending: notRun.ending, text }, isErrorAfter(notRun.ending));
  }
}

/** A request without a job would be decided for nothing, so it is taken back. */
async function keep(jobs: JobStore, call: GuardedCall, { id, salt, effectiveRequirements }: Minted): Promise<void> {
  try {
    call.mcp.signal.throwIfAborted();
    if (salt === undefined) throw new TypeError("an approval that was just asked for has its salt");
    await jobs.put({
      approvalId: id,
      tool: call.action.tool,
      arguments: call.args,
      caller: call.caller,
      salt,
      ...(effectiveRequirements === undefined ? {} : { effectiveRequirements }),
    });
  } catch {
    await withdraw(call, id, "aborted");
    throw new NotRun(call.mcp.signal.aborted ? "interrupted" : "internal", { approvalId: id });
  }
}

function resultOf(approvalId: string | undefined, end: JobEnd, isError: boolean): AskedResult {
  return {
    isError,
    content: [{ type: "text", text: end.text }],
    _meta: {
      ...(end.ran ? {} : { "countersign/ending": end.ending }),
      ...(approvalId === undefined ? {} : { "countersign/approvalId": approvalId }),
    },
  };
}
