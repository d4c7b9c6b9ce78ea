import { randomUUID } from "node:crypto";
import type { LocalText } from "../api-types";
import { NotRun } from "./endings";
import { confirmInForm } from "./form-prompt";
import type { GuardedCall } from "./guarded-call";
import type { Served } from "./mcp-call";
import { extended, runOnce } from "./run";
import type { ToolResult } from "./spec";
import { attestedText } from "./texts";

/**
 * Serves a call of tier 3 whose MCP client shows forms and no links, where the operator has said that its word is enough
 * (`formFallback`). No person is proved: the run is recorded as attested by the MCP client, and nothing of it is an approval.
 * @throws NotRun for every ending without a run
 */
export async function serveAttested(call: GuardedCall): Promise<Served<ToolResult>> {
  const { parts, caller, action } = call;
  const { locale } = parts.settings;
  const { title } = await call.present().catch(() => {
    throw new NotRun("presentation_failed");
  });
  const asked = await confirmInForm(parts, call, textIn(title, locale));
  if (asked !== undefined) return asked;
  await call.verifyCaller();
  const checks = (await call.checks()) ?? [];
  if (checks.some(({ claimed, actual }) => claimed !== actual)) throw new NotRun("check_mismatch");
  if (call.mcp.signal.aborted) throw new NotRun("interrupted");
  const reference = randomUUID();
  const run = () => call.run({ via: "client_attested", approvalId: reference });
  const { result, outcome } = await runOnce(run, { tool: action.tool, reference, locale });
  const { iss, sub } = caller;
  parts.emit({ type: "ran_client_attested", tool: action.tool, reference, iss, sub, outcome });
  return {
    kind: "result",
    result: extended(result, [attestedText(locale)], {
      "countersign/attested": "client",
      "countersign/reference": reference,
    }),
  };
}

function textIn(text: LocalText, locale: "en" | "ja"): string {
  return typeof text === "string" ? text : text[locale];
}
