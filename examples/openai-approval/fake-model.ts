import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { z } from "zod";

const bodySchema = z.object({
  tools: z.array(z.object({ type: z.literal("mcp"), server_label: z.string(), require_approval: z.literal("always") })),
  previous_response_id: z.string().optional(),
  input: z.union([
    z.string(),
    z.array(
      z.object({
        type: z.literal("mcp_approval_response"),
        approval_request_id: z.string(),
        approve: z.boolean(),
        reason: z.string().optional(),
      }),
    ),
  ]),
});
type Body = z.infer<typeof bodySchema>;

export type FakeModel = {
  url: string;
  /** The approvals that it was sent, and what it ran. */
  answers: { approve: boolean; reason?: string | undefined }[];
  ran: unknown[];
  close(): Promise<void>;
};

/**
 * Stands in for a Responses API whose model wants to call one tool: asks for approval, runs it if it may, says so. It keeps to the order of
 * the real one: an answer has to name the response before and the request in it, and is taken once.
 */
export async function startFakeModel(name: string, args: Record<string, unknown>): Promise<FakeModel> {
  const open = new Map<string, string>();
  const answers: FakeModel["answers"] = [];
  const ran: unknown[] = [];
  let count = 0;
  const respond = ({ input, previous_response_id = "", tools }: Body): unknown[] => {
    const server_label = tools[0]?.server_label ?? "";
    if (typeof input === "string") {
      open.set(`resp_${count}`, `mcpr_${count}`);
      return [
        { type: "mcp_list_tools", id: `mcpl_${count}`, server_label, tools: [{ name }] },
        { type: "mcp_approval_request", id: `mcpr_${count}`, server_label, name, arguments: JSON.stringify(args) },
      ];
    }
    const [answer] = input;
    if (answer === undefined || open.get(previous_response_id) !== answer.approval_request_id)
      throw new TypeError("this is no answer to an open request");
    open.delete(previous_response_id);
    const { approve, reason, approval_request_id } = answer;
    answers.push({ approve, reason });
    if (!approve) return [message("It was not done.")];
    ran.push(args);
    const call = { server_label, name, arguments: JSON.stringify(args), output: "done", error: null };
    return [{ type: "mcp_call", id: `mcp_${count}`, approval_request_id, ...call }, message("It is done.")];
  };
  const http = createServer((request, response) => {
    count += 1;
    const id = `resp_${count}`;
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    json(request).then(
      (body) => {
        const parsed = bodySchema.safeParse(body);
        if (!parsed.success || request.url !== "/v1/responses") return answer(400, { error: "invalid_request_error" });
        try {
          return answer(200, { id, object: "response", status: "completed", output: respond(parsed.data) });
        } catch {
          return answer(400, { error: "invalid_request_error" });
        }
      },
      () => answer(400, { error: "invalid_request_error" }),
    );
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/v1`,
    answers,
    ran,
    close: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

function message(text: string) {
  return { type: "message", role: "assistant", content: [{ type: "output_text", text }] };
}
