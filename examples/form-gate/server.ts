import type { Gate } from "@countersign/mcp";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

export type Ticket = { id: string; subject: string; archivedWith: string[] };

/** One ticket; `archivedWith` lists the idempotency keys under which it was really archived. */
export function openTicket(): Ticket {
  return { id: "t_7", subject: "Printer on fire", archivedWith: [] };
}

/** Tier 2: it can be undone, so the chat app's own form is enough. `confirm` is all that it takes. */
export function createHelpdesk(gate: Gate, ticket: Ticket): McpServer {
  const server = new McpServer(
    { name: "helpdesk", version: "1.0.0" },
    { requestState: { verify: gate.verifyRequestState } },
  );
  gate.guard(
    {
      server,
      tool: "archive_ticket",
      tier: 2,
      description: "Archives a ticket; it can be brought back.",
      inputSchema: z.object({ ticket_id: z.literal(ticket.id) }),
      confirm: () => ({ message: `Archive “${ticket.subject}”?` }),
    },
    (_args, _ctx, { idempotencyKey }) => {
      ticket.archivedWith.push(idempotencyKey);
      return { content: [{ type: "text", text: `Archived ${ticket.id}.` }] };
    },
  );
  return server;
}
