/** One round of a `tools/call` of revision 2026-07-28, written by hand: what a client could send that follows no rules. */
export type RawRound = {
  url: string;
  token?: string;
  args?: Record<string, unknown>;
  tool?: string;
  requestState?: unknown;
  inputResponses?: Record<string, unknown>;
  capabilities?: Record<string, unknown>;
  signal?: AbortSignal;
  headers?: Record<string, string>;
  progressToken?: string;
  /** Further members of `_meta`; they go before those that are sent by default. */
  meta?: Record<string, unknown>;
};

type RawAnswer = {
  status: number;
  /** Methods of the messages that came before the answer. */
  before: unknown[];
  result?: Record<string, unknown> & { content?: { text: string }[]; _meta?: Record<string, unknown> };
  error?: { code: number; message: string; data?: Record<string, unknown> };
};

const REVISION = "2026-07-28";

export function requestOf(round: RawRound): Request {
  const { url, token, tool = "delete_project", args = {}, capabilities = { elicitation: { url: {} } } } = round;
  return new Request(url, {
    method: "POST",
    ...(round.signal === undefined ? {} : { signal: round.signal }),
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": REVISION,
      "mcp-method": "tools/call",
      "mcp-name": tool,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...round.headers,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name: tool,
        arguments: args,
        ...(round.requestState === undefined ? {} : { requestState: round.requestState }),
        ...(round.inputResponses === undefined ? {} : { inputResponses: round.inputResponses }),
        _meta: {
          ...(round.progressToken === undefined ? {} : { progressToken: round.progressToken }),
          "io.modelcontextprotocol/protocolVersion": REVISION,
          "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
          "io.modelcontextprotocol/clientCapabilities": capabilities,
          ...round.meta,
        },
      },
    }),
  });
}

export async function sendRound(round: RawRound): Promise<RawAnswer> {
  const response = await fetch(requestOf(round));
  const text = await response.text();
  const lines = text.startsWith("{")
    ? [text]
    : [...text.matchAll(/^data: (\{.*\})$/gm)].map((match) => match[1] ?? "{}");
  const messages = lines.map((line) => JSON.parse(line) as Omit<RawAnswer, "status" | "before"> & { method?: string });
  return { status: response.status, ...messages.at(-1), before: messages.slice(0, -1).map(({ method }) => method) };
}

/** The first round, and the approval id that it came with. */
export async function askRound(round: RawRound): Promise<string> {
  return String((await sendRound(round)).result?.["requestState"]);
}
