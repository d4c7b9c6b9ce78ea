import { notRunResult, toNotRun } from "./endings";
import type { GateParts, GuardedHandler, GuardedTool, GuardSpec } from "./gate";
import { openCall } from "./guarded-call";
import { servePush } from "./serve-push";
import { serveRound } from "./serve-round";

/** Wraps a handler; see `Gate.guard`. Whatever is thrown before the handler runs becomes a text that says so. */
export function guardTool<Args>(
  parts: GateParts,
  spec: GuardSpec<Args>,
  handler: GuardedHandler<Args>,
): GuardedTool<Args> {
  return async (args, ctx) => {
    try {
      const call = await openCall(parts, spec, handler, args, ctx);
      return await (call.client.era === "rounds" ? serveRound(call) : servePush(call));
    } catch (error) {
      const notRun = toNotRun(error);
      const { approvalId } = notRun.facts;
      const about = { tool: spec.tool, ending: notRun.ending };
      parts.emit({ type: "not_run", ...about, ...(approvalId === undefined ? {} : { approvalId }) });
      return notRunResult(spec.tool, notRun);
    }
  };
}
