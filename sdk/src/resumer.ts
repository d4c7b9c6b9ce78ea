import { createParts } from "./gate/parts";
import { registrationOf } from "./gate/registered";
import type { ApprovedGrant } from "./gate/run";
import type { ApprovedSpec, ToolResult } from "./gate/spec";
import { definedOnly } from "./gate/tiers";
import { type AskedResult, type Asking, askAndKeep } from "./resumer/ask";
import type { ResumableTool, ResumeContext, ResumerOptions, ResumerParts } from "./resumer/context";
import type { Job, JobEnd, JobStore, Resumed } from "./resumer/job";
import { resumeJob } from "./resumer/run";
import { createTurns } from "./resumer/turns";
import type { WebhookEvent } from "./webhook/event";

export type { AskedResult, Asking, Job, JobEnd, JobStore, ResumeContext, Resumed, ResumerOptions };

/** A tool of tier 3 that is answered at once and runs later. */
export type ResumableSpec<Args> = { tool: string } & Omit<ApprovedSpec<Args, ResumeContext>, "strict">;

/** What it returns is kept as the text of the job's end. It runs at most once for an approval; `grant.approvalId` is its idempotency key. */
export type ResumableHandler<Args> = (
  args: Args,
  ctx: ResumeContext,
  grant: ApprovedGrant,
) => string | undefined | Promise<string | undefined>;

export type Resumable<Args> = {
  /** For `registerTool`, like `_meta`: they follow from tier 3. */
  annotations: ReturnType<typeof definedOnly>;
  _meta: Record<string, unknown>;
  /**
   * Asks for an approval, keeps the job, and answers at once (`runs_when_approved`); where the user has accepted this very action already, it
   * runs now. Never throws: whatever kept it from asking is a result that says so (I13).
   */
  ask(args: Args, asking: Asking): Promise<AskedResult>;
};

export type Resumer = {
  /**
   * Makes a tool that runs when it is approved, without a wait. Do this for each tool at the start: jobs of one that is not there stay open.
   * @throws TypeError for a bad name or one that is there already; RangeError for a figure outside its bounds
   */
  guard<Args>(spec: ResumableSpec<Args>, handler: ResumableHandler<Args>): Resumable<Args>;
  /** Takes a verified event as a wake-up, and nothing else of it: see `resume`. */
  heed(event: WebhookEvent): Promise<Resumed>;
  /**
   * Reads how the approval of an open job stands, and runs the job if it was accepted: as it was kept here, once, after receipt, caller and
   * checks were verified and the approval was consumed.
   * @throws whatever the store's `find` does, before anything ran
   */
  resume(approvalId: string): Promise<Resumed>;
  /** The same for every open job: at the start, and now and then, for events that were lost. @throws what the store does */
  sweep(): Promise<({ approvalId: string } & Resumed)[]>;
};

/**
 * Makes what runs tools when they are approved, woken by webhooks, while no call waits. An event decides nothing: only a job that was kept
 * here runs, only with what was kept, and only behind the same fence as a gate's tools (receipt, caller, checks, preconditions, `consume`
 * under a fresh token, outcome). A job whose attempt died between `consume` and its report is never run again.
 * @throws TypeError or RangeError for options of the wrong form
 */
export function createResumer(options: ResumerOptions): Resumer {
  const gate = createParts<ResumeContext>({ ...options, resolveCaller: ({ caller }) => caller }, undefined);
  const parts: ResumerParts = { gate, options, tools: new Map() };
  const resume = createTurns((approvalId) => resumeJob(parts, approvalId));
  return {
    guard(spec, handler) {
      if (parts.tools.has(spec.tool)) throw new TypeError(`${spec.tool} is there already`);
      const run = async (...given: Parameters<typeof handler>): Promise<ToolResult> => {
        const text = await handler(...given);
        return { content: text === undefined ? [] : [{ type: "text", text }] };
      };
      const { tool, annotations, _meta } = registrationOf<ResumeContext>({ ...spec, tier: 3 }, run);
      parts.tools.set(spec.tool, tool as ResumableTool);
      return {
        annotations: definedOnly(annotations),
        _meta,
        ask: (args, asking) => askAndKeep(parts, tool as ResumableTool, { args, asking, resume }),
      };
    },
    heed: async (event) => (event.kind === "approval" ? await resume(event.data.approvalId) : { kind: "not_ours" }),
    resume,
    async sweep() {
      const swept = [];
      for (const { approvalId } of await options.jobs.open()) swept.push({ approvalId, ...(await resume(approvalId)) });
      return swept;
    },
  };
}
