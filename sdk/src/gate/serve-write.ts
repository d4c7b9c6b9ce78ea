import { createHash } from "node:crypto";
import { canonicalJson } from "../digest";
import { NotRun } from "./endings";
import { confirmInForm } from "./form-prompt";
import { openCall } from "./guarded-call";
import type { McpCall, Served } from "./mcp-call";
import type { GateParts } from "./parts";
import { extended, runOnce } from "./run";
import type { CoreTool, ToolResult } from "./spec";
import { repeatedText } from "./texts";

const DEFAULT_REPEAT_SECONDS = 60;

/**
 * Serves a call of tier 2: for a known caller, after a form where the author wants one, under an idempotency key, with a record.
 * @throws NotRun for every ending without a run
 */
export async function serveWrite<Ctx>(
  parts: GateParts<Ctx>,
  tool: CoreTool<2, Ctx>,
  given: { args: unknown; ctx: Ctx; mcp: McpCall },
): Promise<Served<ToolResult>> {
  const { spec } = tool;
  const { locale } = parts.settings;
  const call = await openCall(parts, tool, given);
  if (spec.confirm !== undefined) {
    const { message } = await spec.confirm(call.args, given.ctx);
    const asked = await confirmInForm(parts, call, message);
    if (asked !== undefined) return asked;
    await call.verifyCaller();
  }
  if (given.mcp.signal.aborted) throw new NotRun("interrupted");
  const { iss, sub, clientId = null } = call.caller;
  const said = spec.idempotencyKey?.(call.args, given.ctx) ?? canonicalJson(call.args);
  const idempotencyKey = createHash("sha256")
    .update(canonicalJson([iss, sub, clientId, tool.tool, said]))
    .digest("base64url");
  const run = () => runOnce(() => call.run({ idempotencyKey }), { tool: tool.tool, reference: idempotencyKey, locale });
  const done = await parts.repeats.once(idempotencyKey, spec.repeatSeconds ?? DEFAULT_REPEAT_SECONDS, run);
  const { outcome, repeated } = done;
  parts.emit({ type: "wrote", tool: tool.tool, idempotencyKey, iss, sub, outcome, repeated });
  const texts = repeated ? [repeatedText(locale)] : [];
  return { kind: "result", result: extended(done.result, texts, { "countersign/idempotencyKey": idempotencyKey }) };
}
