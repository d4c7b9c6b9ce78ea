import { randomBytes } from "node:crypto";
import { copyExactly } from "../exact-json";
import { resolvedCaller } from "./caller";
import type { McpCall, Served } from "./mcp-call";
import type { GateParts } from "./parts";
import type { CoreTool, ToolContent, ToolResult } from "./spec";
import { untrustedWords } from "./texts";
import { workflowOf } from "./workflow";

const DEFAULT_MAX_CHARACTERS = 50_000;

/**
 * Serves a call of tier 1: the texts of its result are bounded and set apart as somebody else's words, and what was read is remembered, so
 * that a later approval page can say so. Delimiters do not stop a model from following what it reads; the page is what does.
 */
export async function serveUntrusted<Ctx>(
  parts: GateParts<Ctx>,
  { tool, spec, handler }: CoreTool<1, Ctx>,
  { args, ctx, mcp }: { args: unknown; ctx: Ctx; mcp: McpCall },
): Promise<Served<ToolResult>> {
  const source = shortLine(spec.source?.(args) ?? tool);
  // Noted before it is read: a result that is lost on its way was read all the same.
  const caller = await resolvedCaller(parts.settings.resolveCaller, ctx);
  if (caller !== undefined) parts.reads.note(workflowOf(parts, ctx, mcp, caller), source);
  const result = await handler(args, ctx, undefined);
  const max = spec.maxResultCharacters ?? DEFAULT_MAX_CHARACTERS;
  return { kind: "result", result: wrapped(result, { source, max, locale: parts.settings.locale }) };
}

type Wrapping = { source: string; max: number; locale: "en" | "ja" };

function wrapped(result: ToolResult, { source, max, locale }: Wrapping): ToolResult {
  // What is inside cannot know where the outside begins again.
  const words = untrustedWords({ source, mark: randomBytes(8).toString("hex"), locale });
  let left = max;
  const content = (result.content ?? []).map((block): ToolContent => {
    const text = block.type === "text" ? block.text : block.resource?.text;
    if (text === undefined) return block;
    const kept = Array.from(text).slice(0, left);
    left -= kept.length;
    const whole = kept.join("");
    const framed = `${words.open}\n${whole}${whole.length < text.length ? `\n${words.cut}` : ""}\n${words.close}`;
    return block.type === "text"
      ? { ...block, text: framed }
      : { ...block, resource: { ...block.resource, text: framed } };
  });
  const structured = boundedStructure(result.structuredContent, max);
  const { structuredContent: _whole, ...rest } = result;
  return {
    ...rest,
    content,
    ...(structured === undefined ? {} : { structuredContent: structured }),
    _meta: { ...result._meta, "countersign/untrusted": source },
  };
}

/** Data of a schema cannot be cut: it is whole, or it is left out. */
function boundedStructure(data: unknown, max: number): unknown {
  if (data === undefined) return undefined;
  return JSON.stringify(copyExactly(data)).length <= max ? data : undefined;
}

const MAX_SOURCE_CHARACTERS = 80;

function shortLine(text: string): string {
  const visible = text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]/gu, " ");
  return Array.from(visible).slice(0, MAX_SOURCE_CHARACTERS).join("");
}
