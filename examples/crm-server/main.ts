import { startCrmServer } from "./start";
import { readTokens } from "./tokens";

/**
 * Starts the example from its settings, all in the environment:
 * COUNTERSIGN_URL, COUNTERSIGN_API_KEY, CRM_TOKENS (JSON, see tokens.ts) are required;
 * COUNTERSIGN_CLIENT_ID pins the audience of receipts; PORT (4100), HOST (127.0.0.1), CRM_ALLOWED_HOSTS (comma-separated),
 * CRM_DATA (a file; in memory without it).
 */
async function main(env: NodeJS.ProcessEnv): Promise<void> {
  const crm = await startCrmServer({
    gate: {
      url: required(env, "COUNTERSIGN_URL"),
      apiKey: required(env, "COUNTERSIGN_API_KEY"),
      ...optional("clientId", env["COUNTERSIGN_CLIENT_ID"]),
      onEvent: (event) => console.error(JSON.stringify(event)),
    },
    tokens: readTokens(required(env, "CRM_TOKENS")),
    port: Number(env["PORT"] ?? 4100),
    host: env["HOST"] ?? "127.0.0.1",
    allowedHosts: env["CRM_ALLOWED_HOSTS"]?.split(",") ?? [],
    ...optional("dataFile", env["CRM_DATA"]),
  });
  console.log(`CRM MCP server: ${crm.url}`);
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      crm.close().then(
        () => process.exit(0),
        () => process.exit(1),
      );
    });
  }
}

function required(env: NodeJS.ProcessEnv, name: string): string {
  const value = env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

function optional<Name extends string>(name: Name, value: string | undefined): { [N in Name]?: string } {
  return value ? ({ [name]: value } as { [N in Name]: string }) : {};
}

main(process.env).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
