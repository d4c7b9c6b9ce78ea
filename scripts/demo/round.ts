import { remoteKeys, verifyReceipt } from "@countersign/mcp";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Stage } from "./stage";
import { say } from "./terminal";

export type Prompt = { url: string; message: string };
export type RoundResult = { decision: string | undefined; isGenuine: boolean; ran: number };

/** One call of the guarded tool by a real MCP client, from the question to what came of it. */
export async function playRound(
  stage: Stage,
  onPrompt: (prompt: Prompt) => Promise<void> = async () => {},
): Promise<RoundResult> {
  const { projects, executions } = stage.crm.projects.all();
  const project = projects.find((candidate) => candidate.deletedAt === undefined);
  if (!project) {
    say("Every project is deleted. Start the demo again for new ones.");
    return { decision: undefined, isGenuine: false, ran: 0 };
  }
  say(`\nThe agent calls delete_project(${JSON.stringify({ project_id: project.id, expected_items: project.items })})`);
  let link = "";
  let acting = Promise.resolve();
  const agent = await connect(stage, (prompt) => {
    link = prompt.url;
    say(
      `\n  The chat app shows:  ${prompt.message}\n  Open this link:      ${prompt.url}\n  Sign in with:        ${stage.person.email}  ${stage.person.password}\n\nWaiting for the person …`,
    );
    acting = onPrompt(prompt);
  });
  const result = await agent.callTool({
    name: "delete_project",
    arguments: { project_id: project.id, expected_items: project.items },
  });
  await acting;
  await agent.close();
  return report(stage, link, result, stage.crm.projects.all().executions.length - executions.length);
}

async function connect(stage: Stage, onPrompt: (prompt: Prompt) => void): Promise<Client> {
  const agent = new Client(
    { name: "demo-agent", version: "1.0.0" },
    { capabilities: { elicitation: { form: {}, url: {} } }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  agent.setRequestHandler("elicitation/create", ({ params }) => {
    if ("url" in params && typeof params.url === "string") onPrompt({ url: params.url, message: params.message });
    return { action: "accept" };
  });
  const headers = { authorization: `Bearer ${stage.token}` };
  await agent.connect(new StreamableHTTPClientTransport(new URL(stage.crm.url), { requestInit: { headers } }));
  return agent;
}

async function report(
  stage: Stage,
  link: string,
  result: { isError?: boolean | undefined; content: unknown[] },
  ran: number,
): Promise<RoundResult> {
  const approvalId = link.split("/").at(-1) ?? "";
  const { status, decision, receipt = "" } = await stage.api.status(approvalId);
  const { issuer } = (await (await fetch(`${stage.url}/.well-known/countersign`)).json()) as { issuer: string };
  const keys = remoteKeys({ load: async () => (await fetch(`${stage.url}/.well-known/jwks.json`)).json() });
  const verdict = await verifyReceipt(receipt, { issuer, audience: stage.clientId, keys, approvalId });
  const texts = result.content
    .map((part) => (typeof part === "object" && part !== null && "text" in part ? String(part.text) : ""))
    .join("\n");
  say(`\n  Decision:            ${decision ?? status}`);
  say(
    `  Receipt:             ${verdict.ok ? `genuine, signed by ${issuer} with key ${verdict.kid.slice(0, 8)}…` : `not genuine: ${verdict.reason}`}`,
  );
  say(`  The tool answered:   ${texts}`);
  say(`  It ran:              ${ran === 0 ? "not at all" : ran === 1 ? "once" : `${ran} times`}`);
  return { decision, isGenuine: verdict.ok, ran };
}
