import type { Gate } from "@countersign/mcp";
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";

/** States of the fixtures that are not the gate's. */
export const fixtureStates = createRequestStateCodec<{ step: number; name?: string }>({
  key: new Uint8Array(32).fill(7),
});

const nothing = z.object({});
const said = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });
const question = (message: string, field: string) =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: "object", properties: { [field]: { type: "string" } }, required: [field] },
  });
const sample = (text: string) =>
  inputRequired.createMessage({ messages: [{ role: "user", content: { type: "text", text } }], maxTokens: 100 });

/** The tools that the suite's scenarios call. Where a scenario is about what the kit does, the tool is guarded by it. */
export function addFixtureTools(server: McpServer, gate: Gate): void {
  addGuarded(server, gate);
  addSingleInputs(server);
  addStates(server);
  addPrompt(server);
}

function addGuarded(server: McpServer, gate: Gate): void {
  // Its state is the kit's, so that the kit must reject one that was tampered with.
  gate.guard(
    {
      server,
      tool: "test_input_required_result_tampered_state",
      tier: 2,
      inputSchema: nothing,
      confirm: () => ({ message: "Please confirm" }),
    },
    () => said("confirmed"),
  );
  gate.guard(
    {
      server,
      tool: "test_streaming_elicitation",
      tier: 2,
      inputSchema: nothing,
      confirm: () => ({ message: "Please confirm" }),
    },
    () => said("confirmed"),
  );
  gate.guard({ server, tool: "test_simple_text", tier: 0, inputSchema: nothing }, () =>
    said("This is a simple text response for testing."),
  );
}

function addSingleInputs(server: McpServer): void {
  const config = { inputSchema: nothing };
  server.registerTool("test_input_required_result_elicitation", config, (_args, ctx) => {
    const answer = inputResponse(ctx.mcpReq.inputResponses, "user_name");
    if (answer.kind !== "elicit" || answer.action !== "accept" || typeof answer.content?.["name"] !== "string")
      return inputRequired({ inputRequests: { user_name: question("What is your name?", "name") } });
    return said(`Hello, ${answer.content["name"]}!`);
  });
  server.registerTool("test_input_required_result_sampling", config, (_args, ctx) => {
    const answer = inputResponse(ctx.mcpReq.inputResponses, "capital_question");
    if (answer.kind === "missing")
      return inputRequired({ inputRequests: { capital_question: sample("What is the capital of France?") } });
    return said(JSON.stringify(answer));
  });
  server.registerTool("test_input_required_result_list_roots", config, (_args, ctx) => {
    const answer = inputResponse(ctx.mcpReq.inputResponses, "client_roots");
    if (answer.kind === "missing") return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
    return said(JSON.stringify(answer));
  });
  server.registerTool("test_input_required_result_capabilities", config, (_args, ctx) => {
    const envelope: Readonly<Record<string, unknown>> = ctx.mcpReq.envelope ?? {};
    const declared = (envelope[CLIENT_CAPABILITIES_META_KEY] ?? {}) as Readonly<Record<string, unknown>>;
    return inputRequired({
      inputRequests: {
        ...(declared["sampling"] === undefined ? {} : { capital_question: sample("What is the capital of France?") }),
        ...(declared["elicitation"] === undefined ? {} : { user_name: question("What is your name?", "name") }),
      },
    });
  });
  // It logs, so that the suite sees that nothing is logged to a client that has not asked for it.
  server.registerTool("test_logging_tool", config, async (_args, ctx) => {
    await ctx.mcpReq.log("info", "a line");
    return said("logged");
  });
  server.registerTool("test_missing_capability", config, () =>
    inputRequired({ inputRequests: { needed: sample("Anything") } }),
  );
  server.registerTool(
    "test_elicitation",
    { inputSchema: z.object({ message: z.string() }) },
    async ({ message }, ctx) => {
      const properties = { username: { type: "string" as const }, email: { type: "string" as const } };
      const requestedSchema = { type: "object" as const, properties, required: ["username", "email"] };
      const answer = await ctx.mcpReq.elicitInput({ mode: "form", message, requestedSchema });
      return said(`User response: ${JSON.stringify(answer)}`);
    },
  );
}

function addStates(server: McpServer): void {
  const config = { inputSchema: nothing };
  const stateOf = (ctx: ServerContext) => ctx.mcpReq.requestState<{ step: number; name?: string }>();
  server.registerTool("test_input_required_result_request_state", config, async (_args, ctx) => {
    const state = stateOf(ctx);
    if (state !== undefined) return said("state-ok");
    const requestState = await fixtureStates.mint({ step: 1 });
    return inputRequired({ inputRequests: { confirm: question("Please confirm", "ok") }, requestState });
  });
  server.registerTool("test_input_required_result_multiple_inputs", config, async (_args, ctx) => {
    if (stateOf(ctx) !== undefined) return said(JSON.stringify(ctx.mcpReq.inputResponses));
    return inputRequired({
      inputRequests: {
        user_name: question("What is your name?", "name"),
        greeting: sample("Say hello"),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await fixtureStates.mint({ step: 1 }),
    });
  });
  server.registerTool("test_input_required_result_multi_round", config, async (_args, ctx) => {
    const step = stateOf(ctx)?.step ?? 0;
    if (step >= 2) return said("All rounds are done.");
    const asked =
      step === 0
        ? question("Step 1: What is your name?", "name")
        : question("Step 2: What is your favorite color?", "color");
    const requestState = await fixtureStates.mint({ step: step + 1 });
    return inputRequired({ inputRequests: { [`step${step + 1}`]: asked }, requestState });
  });
}

function addPrompt(server: McpServer): void {
  server.registerPrompt("test_input_required_result_prompt", {}, (ctx) => {
    const answer = inputResponse(ctx.mcpReq.inputResponses, "user_context");
    if (answer.kind === "missing")
      return inputRequired({
        inputRequests: { user_context: question("What context should the prompt use?", "context") },
      });
    return { messages: [{ role: "user" as const, content: { type: "text" as const, text: JSON.stringify(answer) } }] };
  });
}
