import { type Command, Option } from "commander";
import { claudeCode } from "./client-config/claude-code";
import { claudeConnectors } from "./client-config/claude-connectors";
import type { ClientSettings, SettingsFor } from "./client-config/client";
import { cursor } from "./client-config/cursor";
import { geminiCli } from "./client-config/gemini-cli";
import { openai } from "./client-config/openai";
import { type Sorted, sortTools } from "./client-config/tools";
import { vscode } from "./client-config/vscode";
import { readText } from "./input-file";
import { CommandError, type Result } from "./output";
import type { Run } from "./run";

const clients = {
  "claude-code": claudeCode,
  "claude-connectors": claudeConnectors,
  vscode,
  cursor,
  "gemini-cli": geminiCli,
  openai,
} satisfies Record<string, SettingsFor>;

type Name = keyof typeof clients;
type Options = { tools: string; server: string; for: Name[]; tier3: "ask" | "deny" };

/** `countersign client-config`: settings of MCP clients for a server's tools, by their tiers. It asks nothing of a deployment. */
export function addClientConfigCommand(program: Command, run: Run): void {
  const names = Object.keys(clients);
  program
    .command("client-config")
    .description("print settings of MCP clients for a server's tools: allow tier 0, ask 1 and 2, ask or deny 3")
    .requiredOption("--tools <file>", "the server's answer to tools/list; - reads standard input")
    .requiredOption("--server <name>", "the name under which the client knows the server")
    .addOption(new Option("--for <client...>", "which clients").choices(names).default(names))
    .addOption(new Option("--tier3 <how>", "tier 3 and tools without a tier").choices(["ask", "deny"]).default("ask"))
    .action((options: Options) => run(() => print(options)));
}

async function print({ tools: file, server, for: names, tier3 }: Options): Promise<Result> {
  if (server.trim() === "" || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(server) || server.length > 100)
    throw new CommandError("bad_server", "--server must be one line of 1 to 100 characters.");
  const tools = sortTools(await readText(file));
  const settings = names.map((name) => ({ name, ...clients[name](server, tools, tier3 === "deny") }));
  return {
    json: { server, tools, clients: settings },
    lines: [...toolLines(tools), ...settings.flatMap((one) => ["", ...linesOf(one)])],
  };
}

function toolLines({ allow, ask, guarded, untold }: Sorted): string[] {
  const named = (label: string, list: string[]) => (list.length === 0 ? [] : [`${label}: ${list.join(", ")}`]);
  return [
    ...named("Tier 0, allowed", allow),
    ...named("Tier 1 and 2, asked for", ask),
    ...named("Tier 3, behind Countersign", guarded),
    ...named("WITHOUT A TIER, treated as tier 3", untold),
  ];
}

function linesOf({ client, asOf, files, steps, adminLock, serverNameRule, notEnforced }: ClientSettings): string[] {
  return [
    `== ${client} ==`,
    ...files.flatMap(({ place, content }) => [`In ${place}:`, ...content.split("\n")]),
    ...steps.map((step) => `- ${step}`),
    `Server name: ${serverNameRule}`,
    `Admin lock: ${adminLock}`,
    `Not enforced: ${notEnforced} The server still guards tier 3 itself.`,
    `Facts of: ${asOf}.`,
  ];
}
