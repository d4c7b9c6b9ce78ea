import type { Gate } from "@countersign/mcp";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Plan, Settings } from "./settings";

/** `plan` works out what would change and changes nothing; `apply` takes its id, shows the person the diff, and applies just that. */
export function createConfigServer(gate: Gate, settings: Settings): McpServer {
  const server = new McpServer(
    { name: "config", version: "1.0.0" },
    { requestState: { verify: gate.verifyRequestState } },
  );
  addPlan(server, gate, settings);
  addApply(server, gate, settings);
  return server;
}

function addPlan(server: McpServer, gate: Gate, settings: Settings): void {
  gate.guard(
    {
      server,
      tool: "plan",
      tier: 0,
      description: "Works out what setting these values would change. Changes nothing; `apply` takes the plan's id.",
      inputSchema: z.object({ wanted: z.record(z.string().max(50), z.string().max(200)) }),
    },
    ({ wanted }) => {
      const { id, changes } = settings.plan(wanted);
      const text = [`Plan ${id}:`, ...changes.map((change) => `${change.name}: ${diffOf(change)}`)].join("\n");
      return { content: [{ type: "text", text }], structuredContent: { plan_id: id } };
    },
  );
}

/** Tier 3. The page shows each change; what was planned on another version than today's is neither asked for nor run. */
function addApply(server: McpServer, gate: Gate, settings: Settings): void {
  gate.guard(
    {
      server,
      tool: "apply",
      tier: 3,
      description: "Applies a plan. The user has to approve its changes on a separate page.",
      inputSchema: z.object({ plan_id: z.string() }),
      presentation: ({ plan_id }) => {
        const { changes } = known(settings, plan_id);
        return {
          title: `Change ${changes.length} setting${changes.length === 1 ? "" : "s"}`,
          destination: "production",
          details: changes.map((change) => ({ label: change.name, value: diffOf(change), risk: true })),
        };
      },
      checks: ({ plan_id }) => [
        { label: "Version of the settings", claimed: known(settings, plan_id).basedOn, actual: settings.version() },
      ],
      preconditions: () => ({ version: settings.version() }),
      // A page has room for twenty: a longer diff has to be split, not cut.
      items: ({ plan_id }) => settings.find(plan_id)?.changes.length ?? 0,
      maxItems: 20,
    },
    ({ plan_id }) => {
      settings.apply(known(settings, plan_id));
      return { content: [{ type: "text", text: `Applied ${plan_id}.` }] };
    },
  );
}

const diffOf = ({ from, to }: Plan["changes"][number]) => `${from ?? "(not set)"} → ${to}`;

function known(settings: Settings, planId: string): Plan {
  const plan = settings.find(planId);
  if (plan === undefined) throw new Error(`There is no plan ${planId}.`);
  return plan;
}
