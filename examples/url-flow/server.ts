import { randomBytes } from "node:crypto";
import type { Gate } from "@countersign/mcp";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

export type Order = { id: string; customer: string; cents: number; refunds: string[] };

/** Two orders under new ids; `refunds` lists the approvals under which money went back, so that it shows how often it did. */
export function openOrders(): Map<string, Order> {
  const order = (customer: string, cents: number): Order => ({ id: newId(), customer, cents, refunds: [] });
  return new Map([order("Ines Bauer", 4_900), order("Kenji Ito", 12_000)].map((each) => [each.id, each]));
}

/** One tool that gives money back, and so runs only when a person has approved exactly this refund. */
export function createShop(gate: Gate, orders: Map<string, Order>): McpServer {
  const server = new McpServer(
    { name: "shop", version: "1.0.0" },
    { requestState: { verify: gate.verifyRequestState } },
  );
  gate.guard(
    {
      server,
      tool: "refund_order",
      tier: 3,
      description: "Refunds an order in full. The user has to approve it on a separate page.",
      inputSchema: z.object({ order_id: z.string() }),
      presentation: ({ order_id }) => {
        const { id, customer, cents } = known(orders, order_id);
        const amount = `${(cents / 100).toFixed(2)} EUR`;
        return {
          title: `Refund ${amount} to ${customer}`,
          irreversible: true,
          details: [
            { label: "Amount", value: amount, risk: true },
            { label: "Order", value: id },
          ],
        };
      },
    },
    ({ order_id }, _ctx, { approvalId }) => {
      const order = known(orders, order_id);
      order.refunds.push(approvalId);
      return { content: [{ type: "text", text: `Refunded order ${order.id}.` }] };
    },
  );
  return server;
}

function known(orders: Map<string, Order>, id: string): Order {
  const order = orders.get(id);
  if (order === undefined) throw new Error(`There is no order ${id}.`);
  return order;
}

const newId = () => `o_${randomBytes(4).toString("hex")}`;
