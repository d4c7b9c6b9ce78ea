import { configuredCaller, createGate } from "@countersign/mcp";
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

/**
 * A server over stdio: it is started by one person for themselves, and its calls carry no token. So who that person is stands in its
 * settings: COUNTERSIGN_URL, COUNTERSIGN_API_KEY, and CALLER_ISS and CALLER_SUB as `npx countersign users add` printed them.
 * An agent that can change these settings can only ask somebody else, who then sees a request that is not theirs.
 */
async function main(env: NodeJS.ProcessEnv): Promise<void> {
  const gate = createGate({
    url: required(env, "COUNTERSIGN_URL"),
    apiKey: required(env, "COUNTERSIGN_API_KEY"),
    resolveCaller: configuredCaller({ iss: required(env, "CALLER_ISS"), sub: required(env, "CALLER_SUB") }),
  });
  const server = new McpServer(
    { name: "notes", version: "1.0.0" },
    { requestState: { verify: gate.verifyRequestState } },
  );
  gate.guard(
    {
      server,
      tool: "publish_note",
      tier: 3,
      description: "Publishes a note for everybody to read. The user has to approve it on a separate page.",
      inputSchema: z.object({ text: z.string().min(1).max(2000) }),
      presentation: ({ text }) => ({ title: "Publish a note", destination: "public web site", modelNote: text }),
    },
    ({ text }) => ({ content: [{ type: "text", text: `Published ${text.length} characters.` }] }),
  );
  await server.connect(new StdioServerTransport());
}

function required(env: NodeJS.ProcessEnv, name: string): string {
  const value = env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

main(process.env).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
