import { type Command, Option } from "commander";
import { type Scope, scopes } from "@/lib/api-keys/authenticate";
import { createKey } from "@/lib/api-keys/create";
import { type ListedKey, listKeys } from "@/lib/api-keys/list";
import { revokeKey } from "@/lib/api-keys/revoke";
import type { Run } from "./run";
import { actor, withService } from "./service";
import { addSigningKeyCommands } from "./signing-keys";

/** `countersign keys …`: the API keys of MCP servers, and the keys that this service signs with. */
export function addKeyCommands(program: Command, run: Run): void {
  const keys = program.command("keys").description("API keys of MCP servers, and this service's signing keys");

  keys
    .command("create")
    .description("make an API key; it is printed once and kept nowhere")
    .requiredOption("--client <id>", "whose it is (cli_…)")
    .addOption(new Option("--scope <scope...>", "what it may do; everything where left out").choices(scopes))
    .option("--tool <tool...>", "for which tools; all that the policy allows where left out")
    .action(({ client, scope, tool }: { client: string; scope?: Scope[]; tool?: string[] }) =>
      run(async () => {
        const wanted = { clientId: client, ...(scope ? { scopes: scope } : {}), ...(tool ? { tools: tool } : {}) };
        const created = await withService((service) => createKey(service, wanted, actor));
        return {
          json: created,
          lines: [`Key ${created.keyId} of ${client}. It is shown this once; keep it secret:`, created.apiKey],
        };
      }),
    );

  keys
    .command("list")
    .description("every API key, without its secret")
    .option("--client <id>", "those of one MCP server")
    .action(({ client }: { client?: string }) =>
      run(async () => {
        const listed = await withService((service) => listKeys(service, client));
        return { json: { keys: listed }, lines: listed.length === 0 ? ["No keys."] : listed.map(keyLine) };
      }),
    );

  keys
    .command("revoke")
    .description("revoke an API key for ever")
    .argument("<keyId>", "its id: the twelve characters after csk_")
    .action((keyId: string) =>
      run(async () => {
        const revoked = await withService((service) => revokeKey(service, keyId, actor));
        return { json: revoked, lines: [`${keyId} ${revoked.changed ? "is revoked" : "was revoked before"}.`] };
      }),
    );

  addSigningKeyCommands(keys, run);
}

function keyLine(key: ListedKey): string {
  const tools = key.tools.length === 0 ? "every tool" : key.tools.join(" ");
  const state = key.revokedAt === null ? "" : ` (revoked ${key.revokedAt.toISOString()})`;
  return `${key.keyId}  ${key.clientName} (${key.clientId})${state}  ${key.scopes.join(" ")}  ${tools}`;
}
