import { actionDigest } from "../digest";
import { hookText } from "../gate/ending-hook";
import { type NotRun, toNotRun } from "../gate/endings";
import { conclude } from "../gate/fence";
import { readState } from "../gate/request-state";
import type { ToolResult } from "../gate/spec";
import { type Ending, endingText } from "../gate/texts";
import { openWithoutClient, type ResumableTool, type ResumerParts } from "./context";
import type { Job, JobEnd, Resumed } from "./job";

/** Endings after which it cannot be known how the approval stands, or whose cause an operator can mend. */
const PASSING: ReadonlySet<Ending> = new Set(["unreachable", "not_authorized", "interrupted", "internal"]);

/**
 * Looks how the approval of a job stands, and runs the job if it was accepted. What runs, and for whom, is what was kept; what the service
 * says decides only whether, and only with a receipt that names the digest of what was kept.
 * @throws whatever the store's `find` does
 */
export async function resumeJob(parts: ResumerParts, approvalId: string): Promise<Resumed> {
  const { options, tools, gate } = parts;
  const job = await options.jobs.find(approvalId);
  if (job === undefined || job.approvalId !== approvalId) return { kind: "not_ours" };
  const tool = tools.get(job.tool);
  // Perhaps another replica, of the version before or after, knows it.
  if (tool === undefined) return { kind: "later", ending: "internal" };
  try {
    const resumed = await runOrWait(parts, tool, job);
    if (resumed.kind === "ended") await keepEnd(parts, job, resumed);
    return resumed;
  } catch (error) {
    const notRun = toNotRun(error, approvalId);
    gate.emit({ type: "not_run", tool: job.tool, ending: notRun.ending, approvalId });
    const resumed = await endOf(parts, tool, job, notRun);
    // Whoever has run it meanwhile has kept a better end.
    if (resumed.kind === "ended" && (await isOpen(parts, approvalId))) await keepEnd(parts, job, resumed);
    return resumed;
  }
}

async function runOrWait(parts: ResumerParts, tool: ResumableTool, job: Job): Promise<Resumed> {
  const { approvalId, caller, salt, effectiveRequirements } = job;
  const { signal } = parts.options;
  const call = await openWithoutClient(parts, tool, { args: job.arguments, caller, signal });
  const answer = await readState(parts.gate.api, approvalId, call.caller);
  if (answer.next === "wait") return { kind: "waiting" };
  if (answer.next === "done" && answer.outcome === undefined) return { kind: "started" };
  const asked = { actionDigest: actionDigest({ ...call.action, salt }), salt, effectiveRequirements };
  const result = await conclude(call, answer, asked);
  return { kind: "ended", ran: true, outcome: result.isError ? "failed" : "succeeded", text: textOf(result) };
}

/** Of a job that did not run, and of one that another attempt has run. */
async function endOf(parts: ResumerParts, tool: ResumableTool, job: Job, notRun: NotRun): Promise<Resumed> {
  const { ending, facts } = notRun;
  if (PASSING.has(ending)) return { kind: "later", ending };
  const { caller } = job;
  const more = await hookText(parts.gate, tool, { args: job.arguments, ctx: { caller } }, notRun);
  const text = endingText(ending, { tool: job.tool, ...facts, more }, parts.gate.settings.locale);
  switch (ending) {
    case "already_run_succeeded":
      return { kind: "ended", ran: true, outcome: "succeeded", text };
    case "already_run_failed":
      return { kind: "ended", ran: true, outcome: "failed", text };
    case "already_run_unknown":
      return await unknownEnd(parts, job, text);
    default:
      return { kind: "ended", ran: false, ending, text };
  }
}

/** `consume` has lost against another attempt, which may still be running: only the service can say that nothing more will be heard of it. */
async function unknownEnd({ gate }: ResumerParts, { approvalId }: Job, text: string): Promise<Resumed> {
  const now = await gate.api.status(approvalId).catch(() => undefined);
  return now?.outcome === "unknown" ? { kind: "ended", ran: true, outcome: "unknown", text } : { kind: "started" };
}

async function isOpen({ options }: ResumerParts, approvalId: string): Promise<boolean> {
  return await options.jobs.find(approvalId).then(
    (job) => job !== undefined,
    () => true,
  );
}

async function keepEnd({ options, gate }: ResumerParts, { approvalId, tool }: Job, done: JobEnd): Promise<void> {
  const { text } = done;
  const end: JobEnd = done.ran ? { ran: true, outcome: done.outcome, text } : { ran: false, ending: done.ending, text };
  try {
    await options.jobs.end(approvalId, end);
  } catch {
    gate.emit({ type: "end_not_kept", tool, approvalId });
  }
}

function textOf({ content = [] }: ToolResult): string {
  return content.map(({ text }) => text ?? "").join("\n");
}
