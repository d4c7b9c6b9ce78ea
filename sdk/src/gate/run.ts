import type { Outcome } from "../api-types";
import type { CallerCall, GuardedCall } from "./guarded-call";
import type { Grant, ToolResult } from "./spec";
import { failureText, type Locale, noteText } from "./texts";

export type ApprovedGrant = Grant & { via: "countersign" };

/** Runs an approved tool. It never throws: from here on it has started, and whatever fails must not read as if nothing had run. */
export async function runApproved(call: GuardedCall, grant: ApprovedGrant): Promise<Ran> {
  const { approvalId, note } = grant;
  const { locale } = call.parts.settings;
  const tool = call.action.tool;
  const { result, outcome } = await runOnce(() => call.run(grant), { tool, reference: approvalId, locale });
  call.parts.emit({ type: "ran", tool, approvalId, outcome });
  const said = note === undefined ? [] : [noteText(note, locale)];
  return { result: extended(result, said, { "countersign/approvalId": approvalId }), outcome };
}

export type Ran = { result: ToolResult; outcome: Outcome };

/** Runs a handler and makes a result of whatever it throws. */
export async function runOnce(
  run: () => ReturnType<CallerCall<3>["run"]>,
  about: { tool: string; reference: string; locale: Locale },
): Promise<Ran> {
  let result: ToolResult;
  try {
    // A handler that gives nothing has run all the same.
    result = extended(await run(), [], {});
  } catch (error) {
    const text = failureText(error instanceof Error ? error.message : String(error), about);
    result = { isError: true, content: [{ type: "text", text }] };
  }
  return { result, outcome: result.isError === true ? "failed" : "succeeded" };
}

/** A result with further texts and `_meta` members. */
export function extended(
  result: ToolResult,
  texts: readonly string[],
  meta: Readonly<Record<string, unknown>>,
): ToolResult {
  const said = texts.map((text) => ({ type: "text", text }));
  return { ...result, content: [...(result.content ?? []), ...said], _meta: { ...result._meta, ...meta } };
}
