import { type ClientSettings, json } from "./client";
import { dangerous, type Sorted } from "./tools";

/** Claude Code: permission rules named `mcp__SERVER__TOOL`. */
export function claudeCode(server: string, tools: Sorted, deny: boolean): ClientSettings {
  const rule = (tool: string) => `mcp__${ruleName(server)}__${tool}`;
  const stopped = dangerous(tools).map(rule);
  const permissions = {
    allow: tools.allow.map(rule),
    ask: [...tools.ask.map(rule), ...(deny ? [] : stopped)],
    deny: deny ? stopped : [],
  };
  return {
    client: "Claude Code",
    asOf: "its documentation of settings and permissions, autumn 2026",
    files: [
      {
        place: ".claude/settings.json of the project, or ~/.claude/settings.json",
        language: "json",
        content: json({ permissions }),
      },
    ],
    steps: [],
    adminLock:
      'Put the same rules into managed-settings.json (/etc/claude-code on Linux, /Library/Application Support/ClaudeCode on macOS) with "allowManagedPermissionRulesOnly": true and "disableBypassPermissionsMode": "disable" in permissions.',
    serverNameRule: `The name under which the server was added (claude mcp add NAME …), other characters than letters, digits, _ and - written as _: here ${ruleName(server)}.`,
    notEnforced:
      "A user without the lock can add rules of their own, and a hook can answer for them. Deny goes before ask, and ask before allow.",
  };
}

const ruleName = (server: string) => server.replace(/[^A-Za-z0-9_-]/g, "_");
