import type { Caller } from "../api-types";
import type { McpCall } from "./mcp-call";
import type { GateParts } from "./parts";

/** What a call is part of. Two people never share one, whatever the author's function says. */
export function workflowOf<Ctx>(
  { settings }: Pick<GateParts<Ctx>, "settings">,
  ctx: Ctx,
  { sessionId }: McpCall,
  { iss, sub, clientId }: Caller,
): string {
  return JSON.stringify([iss, sub, clientId ?? null, settings.workflow?.(ctx) ?? sessionId]);
}
