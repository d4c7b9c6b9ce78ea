import { callerFromAuthInfo, type Gate } from "@countersign/mcp";
import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { type Draft, type Drafts, digestOf } from "./drafts";

type Wanted = Pick<Draft, "to" | "about"> & Partial<Draft>;

/** The model of the chat app writes a mail (sampling); a person reads it whole, and only then it is sent. */
export function createMailServer(gate: Gate, drafts: Drafts): McpServer {
  const server = new McpServer(
    { name: "mail", version: "1.0.0" },
    { requestState: { verify: gate.verifyRequestState } },
  );
  addWriting(server, drafts);
  addSendDraft(server, gate, drafts);
  return server;
}

/** As many as the page shows of what a model wrote. */
const MAX_CHARACTERS = 2_000;

/** Nobody has to approve words that go nowhere. They ask the client (`inputRequired`), so the SDK registers them and not the gate. */
function addWriting(server: McpServer, drafts: Drafts): void {
  const annotations = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };
  server.registerTool(
    "write_draft",
    {
      description: "Writes a mail as a draft. Sends nothing.",
      inputSchema: z.object({ to: z.email(), about: z.string().max(500) }),
      annotations,
    },
    (mail, ctx) => write(drafts, ctx, mail, () => drafts.start({ ...mail, owner: ownerOf(ctx) }).id),
  );
  server.registerTool(
    "rewrite_draft",
    {
      description: "Writes a draft again, as the user wished when they declined it. Sends nothing.",
      inputSchema: z.object({ draft_id: z.string() }),
      annotations,
    },
    ({ draft_id }, ctx) => write(drafts, ctx, known(drafts, ctx, draft_id), () => draft_id),
  );
}

/** The first round asks for the words and the second brings them; of a session of 2025-11-25 the SDK makes the same. */
function write(
  drafts: Drafts,
  ctx: ServerContext,
  wanted: Wanted,
  draftId: () => string,
): CallToolResult | InputRequiredResult {
  const body = sampled(ctx);
  if (body === undefined) return inputRequired({ inputRequests: { words: ask(wanted) } });
  if (body.length > MAX_CHARACTERS) return { isError: true, content: [{ type: "text", text: "It is too long." }] };
  const { id, revision } = drafts.write(draftId(), body);
  const text = `Draft ${id}, revision ${revision}:\n${body}`;
  return { content: [{ type: "text", text }], structuredContent: { draft_id: id, revision } };
}

function addSendDraft(server: McpServer, gate: Gate, drafts: Drafts): void {
  gate.guard(
    {
      server,
      tool: "send_draft",
      tier: 3,
      description: "Sends a draft, or one that was put aside. The user has to approve it on a separate page.",
      inputSchema: z.object({ draft_id: z.string(), revision: z.number().int() }),
      // Our own data tell where it goes; the words are the model's, and the page says so.
      presentation: ({ draft_id, revision }, ctx) => {
        const { to, body } = known(drafts, ctx, draft_id, revision);
        const details = [{ label: "To", value: to, risk: true }];
        return { title: `Send a mail to ${to}`, irreversible: true, details, modelNote: body };
      },
      preconditions: ({ draft_id, revision }, ctx) => ({ words: digestOf(known(drafts, ctx, draft_id, revision)) }),
      onDecline: ({ args: { draft_id, revision }, ctx, note }) => {
        if (note === undefined) return undefined;
        drafts.wish(known(drafts, ctx, draft_id, revision).id, note);
        return `Their wish is kept: rewrite_draft with draft_id ${draft_id} heeds it, and then send_draft asks once more.`;
      },
      onCancel: ({ args: { draft_id, revision }, ctx }) => {
        drafts.save(known(drafts, ctx, draft_id, revision).id);
        return `The draft is put aside. To go on with it later: send_draft with draft_id ${draft_id}, revision ${revision}.`;
      },
    },
    ({ draft_id, revision }, ctx, { approvalId }) => {
      const draft = known(drafts, ctx, draft_id, revision);
      drafts.send(draft, approvalId);
      return { content: [{ type: "text", text: `Sent to ${draft.to}.` }] };
    },
  );
}

/** What the client's model is asked for. The person's wish is quoted as theirs, and it is the server that quotes it, not the agent. */
function ask({ to, about, body, wish }: Wanted) {
  const lines = [`Write the body of a mail to ${to} about this: ${about}`, "Answer with the body alone."];
  if (wish !== undefined)
    lines.push(`You wrote:\n${body}`, `The user declined that, and said: ${JSON.stringify(wish)}`, "Do as they said.");
  const content = { type: "text" as const, text: lines.join("\n\n") };
  return inputRequired.createMessage({ messages: [{ role: "user", content }], maxTokens: 600 });
}

/** The model's words, once the client has come back with them. */
function sampled({ mcpReq }: ServerContext): string | undefined {
  const answer = inputResponse(mcpReq.inputResponses, "words");
  if (answer.kind !== "sampling") return undefined;
  const texts = [answer.result.content].flat().map((block) => (block.type === "text" ? block.text : ""));
  return texts.join("\n").trim() || undefined;
}

function known(drafts: Drafts, ctx: ServerContext, id: string, revision?: number): Draft {
  const draft = drafts.find(id);
  const isIt = draft?.owner === ownerOf(ctx) && (revision === undefined || draft.revision === revision);
  if (draft === undefined || !isIt) throw new Error(`There is no draft ${id} of this revision.`);
  return draft;
}

function ownerOf(ctx: ServerContext): string {
  const { iss, sub } = callerFromAuthInfo(ctx) ?? {};
  if (iss === undefined) throw new Error("Nobody is signed in.");
  return JSON.stringify([iss, sub]);
}
