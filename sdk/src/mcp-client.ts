import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Implementation,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";

/** How the MCP client can be reached for this very call. */
export type McpClientView = {
  /** `rounds`: revision 2026-07-28, input required; `push`: 2025-11-25 and older, server-to-client requests. */
  era: "rounds" | "push";
  elicitation: "url" | "form" | "none";
  /** Self-reported; shown as such and trusted for nothing (S34). */
  name?: { name: string; version: string };
};

const FIRST_ROUNDS_REVISION = "2026-07-28";
const MAX_NAME_LENGTH = 100;

/**
 * Reads what the MCP client declared: per request since 2026-07-28, once per session before. An empty `elicitation` object
 * means form only (2025-11-25), so URL mode counts only when it is declared by name (S1).
 */
export function viewMcpClient(server: McpServer, ctx: ServerContext): McpClientView {
  const revision = server.server.getNegotiatedProtocolVersion();
  // Revisions are dates, so their order is that of their text.
  const isModern = revision !== undefined && revision >= FIRST_ROUNDS_REVISION;
  const { envelope } = ctx.mcpReq;
  const capabilities = isModern ? envelope?.[CLIENT_CAPABILITIES_META_KEY] : server.server.getClientCapabilities();
  const info = isModern ? envelope?.[CLIENT_INFO_META_KEY] : server.server.getClientVersion();
  return {
    era: isModern ? "rounds" : "push",
    elicitation: elicitationOf(capabilities),
    ...(info === undefined ? {} : { name: shortName(info) }),
  };
}

function elicitationOf(capabilities: ClientCapabilities | undefined): McpClientView["elicitation"] {
  const declared = capabilities?.elicitation;
  if (declared === undefined) return "none";
  return declared.url === undefined ? "form" : "url";
}

function shortName({ name, version }: Implementation): { name: string; version: string } {
  return { name: name.slice(0, MAX_NAME_LENGTH), version: version.slice(0, MAX_NAME_LENGTH) };
}
