import type { ClientSettings } from "./client";
import { dangerous, type Sorted } from "./tools";

type Decision = "allow" | "ask_user" | "deny";

/** Gemini CLI: rules of its policy engine, the higher priority first. */
export function geminiCli(server: string, tools: Sorted, deny: boolean): ClientSettings {
  const rules: [string[], Decision, number][] = [
    [tools.allow, "allow", 100],
    [tools.ask, "ask_user", 200],
    [dangerous(tools), deny ? "deny" : "ask_user", 300],
  ];
  const content = rules.flatMap(([names, decision, priority]) =>
    names.map((tool) => ruleOf(server, tool, decision, priority)),
  );
  return {
    client: "Gemini CLI",
    asOf: "its reference of the policy engine, autumn 2026",
    files: [{ place: "~/.gemini/policies/countersign.toml", language: "toml", content: content.join("\n\n") }],
    steps: ['Leave "trust" of the server in settings.json out, or false: it would skip every question.'],
    adminLock:
      "The same file in /etc/gemini-cli/policies (Linux) or /Library/Application Support/GeminiCli/policies (macOS) goes before the user's; strict mode of the enterprise controls keeps users out of yolo mode.",
    serverNameRule: `The key of the server under mcpServers in settings.json: here ${server}. Underscores in it can be mistaken for the separator; use hyphens.`,
    notEnforced: "A user with the rights of an administrator on their machine can change system files.",
  };
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
