import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { ApprovalPage } from "./setting";

export type Era = "2026-07-28" | "2025-11-25";
export const ERAS: readonly Era[] = ["2026-07-28", "2025-11-25"];

/** What an MCP client can do for its user. Only what is here is declared to the server. */
export type AgentOptions = {
  /** Opens links: the user's browser is on the page now. */
  onLink?: (page: ApprovalPage) => Promise<void>;
  /** Shows forms: the value that the user chooses, or `undefined` to close it. */
  onForm?: (message: string) => string | undefined;
  /** Has a model that servers may use (sampling). */
  onSample?: (prompt: string) => string;
};

export type Agent = {
  call(tool: string, args: Record<string, unknown>): Promise<Answer>;
  close(): Promise<void>;
};

export type Answer = {
  isError: boolean;
  text: string;
  /** Programs read these two in `_meta`; texts are for models. `undefined`: it ran. */
  ending: string | undefined;
  approvalId: string | undefined;
  data: Record<string, unknown>;
};

/** A person may take as long as the approval lives. */
const PATIENCE_MS = 600_000;

/** A real MCP client (TypeScript SDK 2.4) over HTTP, of either era. */
export async function connectAgent(url: string, token: string, era: Era, options: AgentOptions = {}): Promise<Agent> {
  const mode = era === "2026-07-28" ? { pin: era } : ("legacy" as const);
  const client = new Client(
    { name: "example-agent", version: "1.0.0" },
    { capabilities: capabilitiesOf(options), versionNegotiation: { mode } },
  );
  const deciding: Promise<void>[] = [];
  // What goes wrong on the person's side ends the call that waits for them.
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => {});
  answerPrompts(client, options, (decision) => {
    deciding.push(decision);
    decision.catch(fail);
  });
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return {
    async call(name, args) {
      const timeout = era === "2025-11-25" ? { timeout: PATIENCE_MS } : {};
      const result = await Promise.race([client.callTool({ name, arguments: args }, timeout), failed]);
      await Promise.all(deciding);
      return answerOf(result);
    },
    close: () => client.close(),
  };
}

function capabilitiesOf({ onLink, onForm, onSample }: AgentOptions) {
  const elicitation = { ...(onLink ? { url: {} } : {}), ...(onForm ? { form: {} } : {}) };
  return { ...(onLink || onForm ? { elicitation } : {}), ...(onSample ? { sampling: {} } : {}) };
}

function answerPrompts(client: Client, options: AgentOptions, onDeciding: (decision: Promise<void>) => void): void {
  const { onLink, onForm, onSample } = options;
  if (onLink || onForm)
    client.setRequestHandler("elicitation/create", ({ params }) => {
      if ("url" in params && typeof params.url === "string") {
        const approvalId = params.url.split("/").at(-1) ?? "";
        if (onLink) onDeciding(onLink({ approvalId, message: `${params.message}\n${params.url}` }));
        // Says that the page was opened, and nothing of what is decided there.
        return { action: "accept" };
      }
      const decision = onForm?.(params.message);
      return decision === undefined ? { action: "cancel" } : { action: "accept", content: { decision } };
    });
  if (onSample)
    client.setRequestHandler("sampling/createMessage", ({ params }) => {
      const prompt = params.messages.map(({ content }) => textOf([content].flat())).join("\n");
      return { role: "assistant", model: "a-model", content: { type: "text", text: onSample(prompt) } };
    });
}

function answerOf(result: Awaited<ReturnType<Client["callTool"]>>): Answer {
  const meta = (name: string) => {
    const value = result._meta?.[`countersign/${name}`];
    return typeof value === "string" ? value : undefined;
  };
  return {
    isError: result.isError === true,
    text: textOf(result.content),
    ending: meta("ending"),
    approvalId: meta("approvalId"),
    data: (result.structuredContent ?? {}) as Record<string, unknown>,
  };
}

function textOf(blocks: readonly { type: string; text?: unknown }[]): string {
  return blocks.map(({ text }) => (typeof text === "string" ? text : "")).join("\n");
}
