import { type ClientSettings, json } from "./client";
import { plainName, renamed } from "./server-name";
import { dangerous, type Sorted } from "./tools";

/** Cursor: a list of what runs unasked; what else asks is up to its run mode. Its command line has allow and deny rules. */
export function cursor(server: string, tools: Sorted, deny: boolean): ClientSettings {
  // `*` is a wildcard in an entry, `:` parts server and tool, and brackets end a rule.
  const name = plainName(server, /[^A-Za-z0-9_-]+/g);
  const entry = (tool: string) => `${name}:${tool.replace(/[^A-Za-z0-9_.-]/g, "_")}`;
  const rule = (tool: string) => `Mcp(${entry(tool)})`;
  const cli = { permissions: { allow: tools.allow.map(rule), deny: deny ? dangerous(tools).map(rule) : [] } };
  return {
    client: "Cursor",
    asOf: "its reference of permissions.json and its pages on run modes (June 2026) and on the command line's permissions",
    writtenFor: name,
    files: [
      {
        place: "~/.cursor/permissions.json, or .cursor/permissions.json of the project",
        language: "json",
        content: json({ mcpAllowlist: tools.allow.map(entry) }),
      },
      { place: "~/.cursor/cli-config.json (the command line)", language: "json", content: json(cli) },
    ],
    steps: [
      ...renamed(server, name),
      "Choose Allowlist under Settings > Agents > Approvals & Execution: in Auto-review a model answers for the person, in Run Everything nobody.",
      "Add what you allow of other servers: once mcpAllowlist is there, the list in the settings counts no more.",
      ...(deny ? [`Turn these tools off in the editor, whose list cannot deny: ${named(dangerous(tools))}.`] : []),
    ],
    adminLock:
      "The team's controls in the dashboard go before permissions.json, and that before the editor's own settings.",
    adminFiles: [],
    serverNameRule: `The key of the server in mcp.json: here ${name}. Users report that Cursor puts a prefix before it (user-…, project-0-…); where an allowed tool still asks, take the name from the prompt.`,
    notEnforced:
      "The list says what runs unasked, no more, and its vendor calls it no security boundary: outside the mode Allowlist, tools that are not on it can run unasked too.",
  };
}

const named = (list: string[]) => (list.length === 0 ? "none" : list.join(", "));
