import { type Command, Option } from "commander";
import { claudeCode } from "./client-config/claude-code";
import { claudeConnectors } from "./client-config/claude-connectors";
import type { ClientSettings, Paste, SettingsFor } from "./client-config/client";
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
type Options = { tools: string; server: string; for: (Name | "all")[]; tier3: "ask" | "deny" };

/** `countersign client-config`: settings of MCP clients for a server's tools, by their tiers. It asks nothing of a deployment. */
export function addClientConfigCommand(program: Command, run: Run): void {
  const names = [...Object.keys(clients), "all"];
  program
    .command("client-config")
    .description("print settings of MCP clients for a server's tools: allow tier 0, ask 1 and 2, ask or deny 3")
    .requiredOption("--tools <file>", "the server's answer to tools/list; - reads standard input")
    .requiredOption("--server <name>", "the name under which the client knows the server")
    .addOption(new Option("--for <client...>", "which clients").choices(names).default(["all"]))
    .addOption(new Option("--tier3 <how>", "tier 3 and tools without a tier").choices(["ask", "deny"]).default("ask"))
    .action((options: Options) => run(() => print(options)));
}

async function print({ tools: file, server, for: wanted, tier3 }: Options): Promise<Result> {
  if (server.trim() === "" || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(server) || server.length > 100)
    throw new CommandError("bad_server", "--server must be one line of 1 to 100 characters.");
  const tools = sortTools(await readText(file));
  const names = (Object.keys(clients) as Name[]).filter((name) => wanted.includes("all") || wanted.includes(name));
  const settings = names.map((name) => ({ name, ...clients[name](server, tools, tier3 === "deny") }));
  return {
    json: { server, tools, clients: settings },
    lines: [...toolLines(tools), ...settings.flatMap((one) => ["", ...linesOf(one)])],
  };
}

function toolLines({ allow, ask, guarded, untold, odd }: Sorted): string[] {
  const named = (label: string, list: string[]) => (list.length === 0 ? [] : [`${label}: ${list.join(", ")}`]);
  return [
    ...named("Tier 0, allowed", allow),
    ...named("Tier 1 and 2, asked for", ask),
    ...named("Tier 3, behind Countersign", guarded),
    ...named("WITHOUT A TIER, treated as tier 3", untold),
    ...named("ODD NAMES (not of A-Z a-z 0-9 _ . -, or too long), never allowed unasked; rename them", odd),
  ];
}

function linesOf(settings: ClientSettings): string[] {
  const { client, asOf, files, steps, adminLock, adminFiles, serverNameRule, notEnforced } = settings;
  const pasted = files.map(({ content }) => content);
  return [
    `== ${client} ==`,
    ...files.flatMap(pasteLines),
    ...steps.map((step) => `- ${step}`),
    `Server name: ${serverNameRule}`,
    `Admin lock: ${adminLock}`,
    // What is there above already is not printed once more.
    ...adminFiles.filter(({ content }) => !pasted.includes(content)).flatMap(pasteLines),
    `Not enforced: ${notEnforced} The server still guards tier 3 itself.`,
    `Facts of: ${asOf}.`,
  ];
}

const pasteLines = ({ place, content }: Paste) => [`In ${place}:`, ...content.split("\n")];
