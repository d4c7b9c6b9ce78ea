import { randomBytes } from "node:crypto";
import { callerFromAuthInfo, createGate, type Gate } from "@countersign/mcp";
import type { McpServer } from "@modelcontextprotocol/server";
import { createTokenVerifier } from "../crm-server/tokens";
import { type Agent, type AgentOptions, connectAgent, type Era } from "./agent";
import { serveMcp } from "./serve";
import type { Setting } from "./setting";

export type Stage = { connect(era: Era, options?: AgentOptions): Promise<Agent> };

/** Serves an example's MCP server while `play` runs with agents of this setting's caller; then closes everything. */
export async function onStage(
  { url, apiKey, clientId, caller }: Setting,
  createServer: (gate: Gate) => McpServer,
  play: (stage: Stage) => Promise<void>,
): Promise<void> {
  const gate = createGate({ url, apiKey, clientId, resolveCaller: callerFromAuthInfo });
  const token = randomBytes(24).toString("base64url");
  const verifier = createTokenVerifier({ [token]: { ...caller, clientId: "example-agent" } });
  const served = await serveMcp({ createServer: () => createServer(gate), verifier });
  const agents: Agent[] = [];
  try {
    await play({
      async connect(era, options) {
        const agent = await connectAgent(served.url, token, era, options);
        agents.push(agent);
        return agent;
      },
    });
  } finally {
    await Promise.all(agents.map((agent) => agent.close()));
    await served.close();
  }
}
