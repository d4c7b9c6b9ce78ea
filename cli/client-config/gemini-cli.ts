import { type ClientSettings, json } from "./client";
import { plainName, renamed } from "./server-name";
import { dangerous, type Sorted } from "./tools";

type Decision = "allow" | "ask_user" | "deny";

// Of 1000 within a tier; settings.json has its own there: trusted servers 200, `tools.allowed` 300, `confirmationRequired` 350, `tools.exclude` 400.
const priorities = { others: 50, allow: 100, ask: 360, dangerous: 370 };

/** Gemini CLI: rules of its policy engine, the higher priority first. */
export function geminiCli(server: string, tools: Sorted, deny: boolean): ClientSettings {
  const name = policyName(server);
  const rules = [
    ...tools.allow.map((tool) => ruleOf(name, toolName(name, tool), "allow", priorities.allow)),
    ...tools.ask.map((tool) => ruleOf(name, toolName(name, tool), "ask_user", priorities.ask)),
    ...dangerous(tools).map((tool) =>
      ruleOf(name, toolName(name, tool), deny ? "deny" : "ask_user", priorities.dangerous),
    ),
    ruleOf(name, "*", "ask_user", priorities.others),
  ];
  const content = rules.join("\n\n");
  const system = { security: { disableYoloMode: true, disableAlwaysAllow: true } };
  return {
    client: "Gemini CLI",
    asOf: "its documentation and source, google-gemini/gemini-cli@5411f11 (0.56.0 nightly), August 2026",
    writtenFor: name,
    files: [{ place: "~/.gemini/policies/countersign.toml", language: "toml", content }],
    steps: [
      ...renamed(server, name),
      'Leave "trust" of the server in settings.json out, or false: in a trusted folder it answers every question, those of these rules too.',
    ],
    adminLock:
      "The same file in /etc/gemini-cli/policies (Linux; of root, writable by nobody else), /Library/Application Support/GeminiCli/policies (macOS) or C:\\ProgramData\\gemini-cli\\policies (Windows) goes before the user's; and this in the settings.json of the folder above it. Define the server there too, without trust: that definition goes before the user's. An organization has strict mode and a list of servers in its admin controls besides.",
    adminFiles: [
      { place: "/etc/gemini-cli/policies/countersign.toml", language: "toml", content },
      { place: "/etc/gemini-cli/settings.json", language: "json", content: json(system) },
    ],
    serverNameRule: `The key of the server under mcpServers in settings.json: letters, digits, . and - (an underscore is taken for the separator, and the rules fail silently), not mcp, at most 25 characters: here ${name}.`,
    notEnforced:
      "Without the lock a user can set trust, or choose in the prompt to be asked no more in this session. Rules of a project's own folder are not read. Run without a person, what would ask fails. An administrator of the machine can change system files.",
  };
}

// A tool's full name is `mcp_SERVER_TOOL`, cut in the middle past 63 characters: up to 25 the server stays whole, and so the rule can match.
function policyName(server: string): string {
  const name = plainName(plainName(server, /[^A-Za-z0-9.-]+/g).slice(0, 25), /[^A-Za-z0-9.-]+/g);
  return name === "mcp" ? "mcp-server" : name;
}

/** The tool's part of the full name that Gemini CLI gives it: rules are compared with that, not with the server's own spelling. */
function toolName(server: string, tool: string): string {
  const prefix = `mcp_${server}_`;
  const full = `${prefix}${tool.replace(/[^A-Za-z0-9_.:-]/g, "_")}`;
  return (full.length > 63 ? `${full.slice(0, 30)}...${full.slice(-30)}` : full).slice(prefix.length);
}

// JSON's strings are strings of TOML too (toml.io, basic strings).
function ruleOf(server: string, tool: string, decision: Decision, priority: number): string {
  const lines = [
    `mcpName = ${JSON.stringify(server)}`,
    `toolName = ${JSON.stringify(tool)}`,
    `decision = "${decision}"`,
  ];
  return ["[[rule]]", ...lines, `priority = ${priority}`].join("\n");
}
