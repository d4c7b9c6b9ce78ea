import { secretKinds } from "@countersign/mcp/secret-shapes";
import type { Command } from "commander";
import { addClient } from "@/lib/clients/add";
import { readClient } from "@/lib/clients/cache";
import { type ListedClient, listClients } from "@/lib/clients/list";
import { setPolicy } from "@/lib/clients/set-policy";
import { parseStrict } from "@/lib/json/parse-strict";
import { Problem } from "@/lib/problem";
import { addFreezeCommands } from "./client-freezes";
import { readText } from "./input-file";
import { CommandError } from "./output";
import type { Run } from "./run";
import { actor, withService } from "./service";

/** `countersign clients …`: the MCP servers that may ask. */
export function addClientCommands(program: Command, run: Run): void {
  const clients = program.command("clients").description("MCP servers that may ask for approvals");

  clients
    .command("add")
    .description("register an MCP server")
    .requiredOption("--name <name>", "name that approvers see")
    .option("--issuer <issuer...>", "whose identities it may ask; this service's own where left out")
    .option("--tool <tool...>", "tools it may ask for; every tool where left out")
    .action(({ name, issuer, tool }: { name: string; issuer?: string[]; tool?: string[] }) =>
      run(async () => {
        const client = { name, ...(issuer ? { issuers: issuer } : {}), ...(tool ? { tools: tool } : {}) };
        const added = await withService((service) => addClient(service, client, actor));
        return { json: added, lines: [`Added ${added.clientId}.`] };
      }),
    );

  clients
    .command("list")
    .description("every MCP server, with what it may ask for")
    .action(() =>
      run(async () => {
        const listed = await withService(listClients);
        return { json: { clients: listed }, lines: listed.length === 0 ? ["No clients."] : listed.map(clientLine) };
      }),
    );

  addPolicyCommand(clients, run);
  addFreezeCommands(clients, run);
}

function addPolicyCommand(clients: Command, run: Run): void {
  clients
    .command("policy")
    .description("show the policy of an MCP server, or put a new version of it in force")
    .argument("<client>", "its id (cli_…)")
    .option("--set <file>", "JSON object whose members replace those of the policy in force; - reads standard input")
    .option(
      "--allow-secret <kind...>",
      `what may look like a secret in arguments and presentation: ${secretKinds.join(", ")}; none allows nothing again`,
    )
    .action((clientId: string, { set, allowSecret }: { set?: string; allowSecret?: string[] }) =>
      run(async () => {
        const members = set === undefined ? undefined : readPatch(await readText(set));
        const allowedSecretKinds = allowSecret?.filter((kind) => kind !== "none");
        const patch = allowedSecretKinds ? { ...members, allowedSecretKinds } : members;
        const { version, policy } = await withService(async (service) => {
          if (patch) return setPolicy(service, clientId, patch, actor);
          const client = await readClient(service.prisma, clientId);
          if (!client) throw noSuchClient();
          return { version: client.policyVersion, policy: client.policy };
        }).catch((error: unknown) => {
          throw error instanceof Problem && error.code === "not_found" ? noSuchClient() : error;
        });
        const head = patch ? `Version ${version} is in force:` : `Version ${version}:`;
        return { json: { clientId, version, policy }, lines: [head, ...JSON.stringify(policy, null, 2).split("\n")] };
      }),
    );
}

function readPatch(text: string): Record<string, unknown> {
  const parsed = parseStrict(text);
  if (!parsed.ok) throw new CommandError("malformed_json", `The policy: ${parsed.fault.message}`);
  const { value } = parsed;
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new CommandError("malformed_json", "The policy must be one JSON object.");
  return { ...value };
}

function clientLine(client: ListedClient): string {
  const people = client.frozenByPeople > 0 ? [`frozen by ${client.frozenByPeople} for themselves`] : [];
  const states = [...(client.isFrozen ? ["frozen"] : []), ...(client.isDisabled ? ["disabled"] : []), ...people];
  const tools = !client.isPolicyReadable
    ? "policy unreadable"
    : client.tools.length === 0
      ? "every tool"
      : client.tools.join(" ");
  const state = states.length === 0 ? "" : ` (${states.join(", ")})`;
  return `${client.clientId}  ${client.name}${state}  ${tools}  for ${client.issuers.join(" ")}`;
}

const noSuchClient = () => new Problem("not_found", { detail: "There is no such client." });
