import type { Approver } from "./approver";
import type { ModelResponse, responsesApi } from "./responses";

export type LoopOptions = {
  send: ReturnType<typeof responsesApi>;
  approver: Approver;
  model: string;
  /** Your MCP server, as `{ server_label, server_url, … }`. */
  server: Record<string, unknown>;
};

/** One turn with the model: goes on until it asks for no more approvals. The platform calls your MCP server, and only what a person accepted. */
export async function runTurn(
  { send, approver, model, server }: LoopOptions,
  question: string,
): Promise<ModelResponse> {
  const tools = [{ ...server, type: "mcp", require_approval: "always" }];
  let response = await send({ model, tools, input: question });
  while (response.requests.length > 0) {
    const input = await approver.answer(response.requests);
    response = await send({ model, tools, input, previous_response_id: response.id });
    for (const { approval_request_id, error } of response.calls)
      if (approval_request_id) await approver.report(approval_request_id, error ? "failed" : "succeeded");
  }
  return response;
}
