import { EventEmitter, once } from "node:events";
import type { GateEvent } from "@countersign/mcp";
import { afterEach } from "vitest";
import { type CrmServer, type CrmServerOptions, startCrmServer } from "@/examples/crm-server/start";
import { type FakeService, startFakeService } from "./fake-service";
import { BOTH_MODES, clientKinds, type TestClient, type TestClientOptions, type ToolResult } from "./mcp-clients";

export const ALICE = "token-of-alice-0123456789";
export const BOB = "token-of-bob-01234567890";
export const NOBODY = "token-without-identity-01";

const ISSUER = "https://as.example.com";

const tokens = {
  [ALICE]: { iss: ISSUER, sub: "alice", clientId: "chat-app" },
  [BOB]: { iss: ISSUER, sub: "bob", clientId: "chat-app" },
};

export const apollo = { project_id: "p_42", expected_items: 318 };

export type Stage = {
  service: FakeService;
  crm: CrmServer;
  events: GateEvent[];
  nextEvent(type: GateEvent["type"]): Promise<GateEvent>;
  connect(kind: keyof typeof clientKinds, options?: Partial<TestClientOptions>): Promise<TestClient>;
  /** How often delete_project really ran. */
  runs(): number;
};

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** The service's stand-in and the example server, both over real HTTP; all is closed after the test. */
export async function setStage(gate: Partial<CrmServerOptions["gate"]> = {}): Promise<Stage> {
  const service = await startFakeService();
  cleanups.push(service.close);
  const events: GateEvent[] = [];
  const bus = new EventEmitter();
  const { url, apiKey, clientId } = service;
  const onEvent = (event: GateEvent) => {
    events.push(event);
    bus.emit(event.type, event);
  };
  const crm = await startCrmServer({ gate: { url, apiKey, clientId, onEvent, ...gate }, tokens });
  cleanups.push(crm.close);
  return {
    service,
    crm,
    events,
    nextEvent: async (type) => (await once(bus, type))[0] as GateEvent,
    async connect(kind, options = {}) {
      const client = await clientKinds[kind]({ url: crm.url, token: ALICE, elicitation: BOTH_MODES, ...options });
      cleanups.push(client.close);
      return client;
    },
    runs: () => crm.projects.all().executions.filter(({ tool }) => tool === "delete_project").length,
  };
}

export function textOf(result: ToolResult): string {
  return result.content.map((block) => (block as { text: string }).text).join("\n");
}

export function endingOf(result: ToolResult): unknown {
  return result._meta?.["countersign/ending"];
}
