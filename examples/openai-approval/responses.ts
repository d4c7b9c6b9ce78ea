import { z } from "zod";

const itemSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("mcp_approval_request"),
    id: z.string(),
    server_label: z.string(),
    name: z.string(),
    /** A JSON object, as text. */
    arguments: z.string(),
  }),
  z.object({
    type: z.literal("mcp_call"),
    name: z.string(),
    approval_request_id: z.string().nullish(),
    output: z.string().nullish(),
    error: z.unknown(),
  }),
  z.object({
    type: z.literal("message"),
    content: z.array(z.object({ type: z.string(), text: z.string().optional() })),
  }),
]);
const responseSchema = z.object({ id: z.string(), output: z.array(z.unknown()) });

type Item = z.infer<typeof itemSchema>;
export type ApprovalRequest = Extract<Item, { type: "mcp_approval_request" }>;
export type McpCallItem = Extract<Item, { type: "mcp_call" }>;
export type ApprovalResponse = {
  type: "mcp_approval_response";
  approval_request_id: string;
  approve: boolean;
  reason?: string;
};

export type ModelResponse = { id: string; requests: ApprovalRequest[]; calls: McpCallItem[]; text: string };

/** A client of the Responses API, as far as this example needs it. `url` ends before `/responses`. */
export function responsesApi({ url, apiKey }: { url: string; apiKey: string }) {
  return async (body: Record<string, unknown>): Promise<ModelResponse> => {
    const response = await fetch(`${url}/responses`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`the model's API answered ${response.status}`);
    const { id, output } = responseSchema.parse(await response.json());
    // Items of other types, such as the list of the server's tools, are none of our business.
    const items = output.flatMap((item) => itemSchema.safeParse(item).data ?? []);
    return {
      id,
      requests: items.filter((item) => item.type === "mcp_approval_request"),
      calls: items.filter((item) => item.type === "mcp_call"),
      text: items
        .flatMap((item) => (item.type === "message" ? item.content.map(({ text = "" }) => text) : []))
        .join(""),
    };
  };
}
