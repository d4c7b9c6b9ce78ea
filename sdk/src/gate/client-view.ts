import { z } from "zod";
import type { McpCall } from "./mcp-call";

const FIRST_URL_REVISION = "2025-11-25";

const capabilitiesSchema = z.looseObject({
  elicitation: z.looseObject({ form: z.looseObject({}).optional(), url: z.looseObject({}).optional() }).optional(),
});
/** At most 100 characters, without what the service's strict parser refuses: a name must not stand in the way of a request. */
const shortText = z.string().transform((text) =>
  Array.from(text.replace(/[\p{Surrogate}\0]/gu, ""))
    .slice(0, 100)
    .join(""),
);
const nameSchema = z.object({ name: shortText, version: shortText.optional() });

/**
 * Reads which prompts an MCP client declared. An empty `elicitation` object means forms only (2025-11-25), so links count only when they
 * are declared by name (S1), and only where the revision has them.
 */
export function declaredPrompts(capabilities: unknown, revision: string | undefined): McpCall["can"] {
  const declared = capabilitiesSchema.safeParse(capabilities).data?.elicitation;
  if (declared === undefined) return { url: false, form: false };
  // Revisions are dates, so their order is that of their text.
  const hasUrlMode = revision !== undefined && revision >= FIRST_URL_REVISION;
  return {
    url: hasUrlMode && declared.url !== undefined,
    form: declared.form !== undefined || declared.url === undefined,
  };
}

/** What an MCP client calls itself; shown as such and trusted for nothing (S34). */
export function reportedName(info: unknown): McpCall["clientInfo"] {
  const { name, version } = nameSchema.safeParse(info).data ?? {};
  return name ? { name, ...(version ? { version } : {}) } : undefined;
}

const answerSchema = z.object({
  action: z.enum(["accept", "decline", "cancel"]),
  content: z.record(z.string(), z.unknown()).nullish(),
});

/** An answer to a prompt, whatever came; `undefined` where it is of no fit form. */
export function readAnswer(value: unknown) {
  const answer = answerSchema.safeParse(value).data;
  return answer && { action: answer.action, content: answer.content ?? {} };
}
