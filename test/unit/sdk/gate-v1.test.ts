import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { endingOf, textOf } from "./crm";
import { startFakeService } from "./fake-service";
import { BOTH_MODES, clientKinds, type TestClientOptions } from "./mcp-clients";
import { startV1Server } from "./v1-server";

const kinds = ["legacy", "v1"] as const;

async function setV1Stage(kind: (typeof kinds)[number], client: Partial<TestClientOptions> = {}, stateless = false) {
  const service = await startFakeService();
  onTestFinished(service.close);
  const ran: { list: string[]; all: boolean }[] = [];
  const { url } = await startV1Server({
    service,
    stateless,
    addTools: (server, gate) => {
      const inputSchema = { list: z.array(z.string()), all: z.boolean().default(false) };
      const presentation = ({ list }: { list: string[] }) => ({ title: `Delete ${list.join(", ")}` });
      gate.guard({ server, tool: "delete_all", tier: 3, inputSchema, presentation }, (args) => {
        ran.push(args);
        return { content: [{ type: "text", text: "done" }] };
      });
    },
  });
  const connected = await clientKinds[kind]({ url, token: "t", elicitation: BOTH_MODES, ...client });
  onTestFinished(connected.close);
  return { service, client: connected, ran };
}

const args = { list: ["b", "a"], sneaky: 1 };
const idIn = ({ url }: { url: string }) => url.split("/a/")[1] ?? "";

describe.each(kinds)("a guarded tool of an SDK v1 server, called by the %s client", (kind) => {
  it("I3, I5: runs once, with the arguments that its schema made of what the model sent, after the person accepted", async () => {
    const stage = await setV1Stage(kind, {
      onPrompt: async (prompt) => {
        expect(stage.ran).toEqual([]);
        await stage.service.decide(idIn(prompt), "accept", { note: "go" });
        return "accept" as const;
      },
    });
    const result = await stage.client.call("delete_all", args);
    expect(textOf(result)).toBe("done\nThe user's note, in their own words: “go”");
    expect(stage.ran).toEqual([{ list: ["b", "a"], all: false }]);
    const [approval] = stage.service.approvals.values();
    expect(approval).toMatchObject({ action: { arguments: stage.ran[0] }, outcome: "succeeded" });
    expect(stage.client.completed).toEqual([stage.client.prompts[0]?.elicitationId]);
  });

  it.each(["decline", "cancel"] as const)("runs nothing after the person's %s", async (decision) => {
    const stage = await setV1Stage(kind, {
      onPrompt: async (prompt) => {
        await stage.service.decide(idIn(prompt), decision);
        return "accept" as const;
      },
    });
    const result = await stage.client.call("delete_all", args);
    expect([result.isError, endingOf(result)]).toEqual([true, decision === "decline" ? "declined" : "cancelled"]);
    expect(stage.ran).toEqual([]);
  });

  it("I1: an accept that the MCP client sends by itself decides nothing; its decline withdraws", async () => {
    const stage = await setV1Stage(kind, { onPrompt: () => "decline" });
    const result = await stage.client.call("delete_all", args);
    expect(endingOf(result)).toBe("client_declined");
    expect([...stage.service.approvals.values()]).toMatchObject([{ status: "withdrawn", reason: "client_declined" }]);
    expect(stage.ran).toEqual([]);
  });

  it("S1: a client that declares forms only gets no prompt, and finds its approval when it calls again", async () => {
    const stage = await setV1Stage(kind, { elicitation: { form: {} } });
    expect(endingOf(await stage.client.call("delete_all", args))).toBe("ask_in_inbox");
    const [approval] = stage.service.approvals.values();
    await stage.service.decide(approval?.id ?? "", "accept");
    expect(textOf(await stage.client.call("delete_all", args))).toBe("done");
    expect(stage.client.prompts).toEqual([]);
  });

  it("S6: a server without sessions knows of no links, so it asks by the inbox and never with -32042", async () => {
    const stage = await setV1Stage(kind, {}, true);
    expect(endingOf(await stage.client.call("delete_all", args))).toBe("ask_in_inbox");
    expect(stage.client.wire.received.join("")).not.toContain("-32042");
  });
});
