import { type ClientSettings, json } from "./client";
import { dangerous, type Sorted } from "./tools";

/** Claude Code: permission rules named `mcp__SERVER__TOOL`. */
export function claudeCode(server: string, tools: Sorted, deny: boolean): ClientSettings {
  const name = ruleName(server);
  const permissions = permissionsFor(name, tools, deny);
  const managed = {
    allowManagedPermissionRulesOnly: true,
    permissions: { ...permissions, disableBypassPermissionsMode: "disable" },
  };
  return {
    client: "Claude Code",
    asOf: "its documentation of permissions and managed settings and its changelog, versions 2.1.240 to 2.1.299, October 2026; that names of tools are rewritten like names of servers is not documented",
    writtenFor: name,
    files: [
      {
        place: ".claude/settings.json of the project, or ~/.claude/settings.json",
        language: "json",
        content: json({ permissions }),
      },
    ],
    steps: /__|_$/.test(name)
      ? ["Choose a server name without __ and without _ at its end: before 2.1.299 such names could be mistaken."]
      : [],
    adminLock:
      "This in managed-settings.json: /etc/claude-code on Linux, /Library/Application Support/ClaudeCode on macOS, C:\\Program Files\\ClaudeCode on Windows. No other rules count then, so it has to hold all that your people need.",
    adminFiles: [{ place: "managed-settings.json", language: "json", content: json(managed) }],
    serverNameRule: `The name under which the server was added (claude mcp add NAME …: letters, digits, - and _); in names from elsewhere any other character is written as _: here ${name}.`,
    notEnforced:
      "Without the lock a user can add rules of their own. Deny goes before ask, and ask before allow; a mode that never prompts turns ask into deny.",
  };
}

function permissionsFor(name: string, tools: Sorted, deny: boolean) {
  const rule = (tool: string) => `mcp__${name}__${plain(tool)}`;
  // Whether a tool's name is rewritten is known from other programs only: what must not run unasked is named both ways.
  const both = (tool: string) => [...new Set([rule(tool), `mcp__${name}__${tool}`])].filter(isRule);
  const stopped = dangerous(tools).flatMap(both);
  const ask = [...new Set([...tools.ask.flatMap(both), ...(deny ? [] : stopped)])];
  const held = new Set([...ask, ...stopped]);
  // Two names that are written alike: the stricter one counts.
  return { allow: tools.allow.map(rule).filter((one) => !held.has(one)), ask, deny: deny ? stopped : [] };
}

const plain = (name: string) => name.replace(/[^A-Za-z0-9_-]/g, "_");

/** A rule with brackets, a wildcard, a space or a comma would be read as something else. */
const isRule = (rule: string) => /^[A-Za-z0-9_./:-]+$/.test(rule);

/** Connectors of the Claude account come as "claude.ai NAME"; only there are several underscores drawn together. */
function ruleName(server: string): string {
  const name = plain(server);
  return server.startsWith("claude.ai ") ? name.replace(/_+/g, "_").replace(/^_|_$/g, "") : name;
}
