import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";

/** How the MCP client can be reached for this very call. */
export type McpClientView = {
  /** `rounds`: revision 2026-07-28, input required; `push`: 2025-11-25 and older, server-to-client requests. */
  era: "rounds" | "push";
  elicitation: "url" | "form" | "none";
  /** Self-reported; shown as such and trusted for nothing (S34). */
  name?: { name: string; version?: string };
};

const FIRST_URL_REVISION = "2025-11-25";
const FIRST_ROUNDS_REVISION = "2026-07-28";

const capabilitiesSchema = z.looseObject({
  elicitation: z.looseObject({ url: z.looseObject({}).optional() }).optional(),
});
/** At most 100 characters, without what the service's strict parser refuses: a name must not stand in the way of a request. */
const shortText = z.string().transform((text) =>
  Array.from(text.replace(/[\p{Surrogate}\0]/gu, ""))
    .slice(0, 100)
    .join(""),
);
const nameSchema = z.object({ name: shortText, version: shortText.optional() });

/**
 * Reads what the MCP client declared: per request since 2026-07-28, once per session before. An empty `elicitation` object
 * means form only (2025-11-25), so URL mode counts only when it is declared by name (S1).
 */
export function viewMcpClient(server: McpServer, ctx: ServerContext): McpClientView {
  const revision = server.server.getNegotiatedProtocolVersion();
  // Revisions are dates, so their order is that of their text.
  const isModern = revision !== undefined && revision >= FIRST_ROUNDS_REVISION;
  const envelope: Readonly<Record<string, unknown>> = ctx.mcpReq.envelope ?? {};
  const capabilities = isModern ? envelope[CLIENT_CAPABILITIES_META_KEY] : server.server.getClientCapabilities();
  const info = isModern ? envelope[CLIENT_INFO_META_KEY] : server.server.getClientVersion();
  const { name, version } = nameSchema.safeParse(info).data ?? {};
  return {
    era: isModern ? "rounds" : "push",
    elicitation: elicitationOf(capabilities, revision),
    ...(name ? { name: { name, ...(version ? { version } : {}) } } : {}),
  };
}

function elicitationOf(capabilities: unknown, revision: string | undefined): McpClientView["elicitation"] {
  const declared = capabilitiesSchema.safeParse(capabilities).data?.elicitation;
  if (declared === undefined) return "none";
  const hasUrlMode = revision !== undefined && revision >= FIRST_URL_REVISION;
  return hasUrlMode && declared.url !== undefined ? "url" : "form";
}
