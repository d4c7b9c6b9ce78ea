import { copyExactly } from "../exact-json";
import type { NotRun } from "./endings";
import type { Given } from "./guard";
import type { GateParts } from "./parts";
import type { ApprovedSpec, CoreTool, EndingHook } from "./spec";
import type { Ending } from "./texts";

/** Which of the author's hooks an ending belongs to. The endings are never merged: the hook is told which one it is. */
export function hookFor<Args, Ctx>(spec: ApprovedSpec<Args, Ctx>, ending: Ending): EndingHook<Args, Ctx> | undefined {
  if (ending === "declined" || ending === "not_requested") return spec.onDecline;
  if (ending === "cancelled" || ending === "client_cancelled") return spec.onCancel;
  if (ending === "expired" || ending === "lapsed") return spec.onExpire;
  if (ending === "client_declined" || ending.startsWith("withdrawn")) return spec.onWithdrawn;
  return undefined;
}

/** Calls the hook of an ending, if its author has given one; what it says is for the agent. That it fails changes nothing. */
export async function hookText<Ctx>(
  parts: Pick<GateParts<Ctx>, "emit">,
  { tool, spec }: CoreTool<3, Ctx>,
  { args, ctx }: Pick<Given<Ctx>, "args" | "ctx">,
  { ending, facts }: NotRun,
): Promise<string | undefined> {
  const hook = facts.isOwn === true ? hookFor(spec, ending) : undefined;
  if (hook === undefined) return undefined;
  try {
    return await hook({ ending, args: copyExactly(args), ctx, approvalId: facts.approvalId, note: facts.note });
  } catch {
    parts.emit({ type: "hook_failed", tool, ending });
    return undefined;
  }
}
