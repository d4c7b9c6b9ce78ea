import { createGate } from "@countersign/mcp";
import { createFakeCountersign } from "@countersign/mcp/fake";
import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport, McpServer } from "@modelcontextprotocol/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";

/** A user's server as a user would test it: no port, no service, the SDK's own in-memory transport. */
async function setServer() {
  const fake = await createFakeCountersign();
  const gate = createGate({
    ...fake.gate,
    maxApprovalsPerWorkflow: 10,
    resolveCaller: () => ({ iss: "https://as.example.com", sub: "alice" }),
  });
  const server = new McpServer({ name: "mine", version: "1" });
  const ran: string[] = [];
  gate.guard(
    {
      server,
      tool: "delete_it",
      tier: 3,
      inputSchema: z.object({ id: z.string() }),
      presentation: ({ id }) => ({ title: `Delete ${id}` }),
    },
    ({ id }) => {
      ran.push(id);
      return { content: [{ type: "text", text: "deleted" }] };
    },
  );
  const [left, right] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: { url: {} } } });
  client.setRequestHandler("elicitation/create", async () => ({ action: "accept" as const }));
  await server.connect(left);
  await client.connect(right);
  onTestFinished(() => client.close());
  const call = async (id: string) => await client.callTool({ name: "delete_it", arguments: { id } });
  return { fake, ran, call };
}

describe("the stand-in for users' own tests", () => {
  it("lets a test decide what was asked, and the kit verifies what it signs", async () => {
    const { fake, ran, call } = await setServer();
    const asked = fake.nextAsked();
    const result = call("a");
    const approval = await asked;
    expect(approval.action).toEqual({ tool: "delete_it", arguments: { id: "a" } });
    expect([approval.title, ran]).toEqual(["Delete a", []]);
    await fake.decide(approval.id, "accept");
    expect((await result).content).toEqual([{ type: "text", text: "deleted" }]);
    expect(ran).toEqual(["a"]);
    expect(fake.approvals.get(approval.id)?.outcome).toBe("succeeded");
  });

  it("answers every request alike, and plays each ending and each fault", async () => {
    const { fake, ran, call } = await setServer();
    const endingOf = async (id: string) => (await call(id))._meta?.["countersign/ending"];
    fake.answerWith("decline");
    expect(await endingOf("a")).toBe("declined");
    fake.answerWith("cancel");
    expect(await endingOf("b")).toBe("cancelled");
    fake.failNext("mint", { kind: "refuse", problem: { status: 403, code: "frozen" } });
    expect(await endingOf("c")).toBe("frozen");
    fake.answerWith(undefined);
    expect(ran).toEqual([]);
    const unknown = "apr_00000000000000000000000000";
    await expect(fake.decide(unknown, "accept")).rejects.toThrow(`There is no approval ${unknown}.`);
  });

  it("a lost answer is asked for again, and the tool runs once", async () => {
    const { fake, ran, call } = await setServer();
    fake.answerWith("accept");
    fake.failNext("consume", { kind: "drop" });
    await call("a");
    expect(ran).toEqual(["a"]);
    expect(fake.seen.filter(({ route }) => route === "consume")).toHaveLength(2);
  });
});
