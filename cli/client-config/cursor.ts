import { type ClientSettings, json } from "./client";
import { dangerous, type Sorted } from "./tools";

/** Cursor: a list of what runs unasked; everything else asks. Its command line has allow and deny rules. */
export function cursor(server: string, tools: Sorted, deny: boolean): ClientSettings {
  const entry = (tool: string) => `${server}:${tool}`;
  const rule = (tool: string) => `Mcp(${entry(tool)})`;
  const cli = { permissions: { allow: tools.allow.map(rule), deny: deny ? dangerous(tools).map(rule) : [] } };
  return {
    client: "Cursor",
    asOf: "its reference of permissions.json and of the command line's permissions, autumn 2026",
    files: [
      {
        place: "~/.cursor/permissions.json",
        language: "json",
        content: json({ mcpAllowlist: tools.allow.map(entry) }),
      },
      { place: "~/.cursor/cli-config.json (the command line)", language: "json", content: json(cli) },
    ],
    steps: deny
      ? [`In the editor turn these tools off, since the list cannot deny: ${dangerous(tools).join(", ") || "none"}.`]
      : [],
    adminLock:
      "The team's allowlist in the dashboard goes before permissions.json, and that before the editor's own settings.",
    serverNameRule: `The key of the server in mcp.json: here ${server}.`,
    notEnforced:
      "The list says what runs unasked, no more: a user may still run everything without asking where the team's settings let them.",
  };
}
