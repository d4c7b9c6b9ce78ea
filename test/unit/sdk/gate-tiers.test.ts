import { createGate, type Gate, type GateEvent, type GateOptions, type Tier } from "@countersign/mcp";
import { McpServer } from "@modelcontextprotocol/server";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { startFakeService } from "./fake-service";
import { type RawRound, sendRound } from "./raw-round";
import { startSmallServer } from "./small-server";

const options = {
  url: "http://localhost:1",
  apiKey: "csk_aaaaaaaaaaaa_0123456789012345678901234567890123456789012",
  resolveCaller: () => undefined,
};
const text = (words: string) => ({ content: [{ type: "text" as const, text: words }] });
const presentation = () => ({ title: "Do it" });
const inputSchema = z.object({ name: z.string() });

function registerIn(
  gate: Gate,
  spec: { tool?: string; tier: Tier; annotations?: Record<string, boolean>; presentation?: unknown },
) {
  const server = new McpServer({ name: "s", version: "1" });
  const whole = { server, tool: "do_it", inputSchema, presentation, ...spec };
  return gate.guard(whole as Parameters<typeof gate.guard<3, typeof inputSchema>>[0], () => text("ran"));
}

describe("registering a tool", () => {
  it("refuses tier 4, and what is no tier", () => {
    const gate = createGate(options);
    expect(() => registerIn(gate, { tier: 4 })).toThrow("never for agents");
    expect(() => registerIn(gate, { tier: 5 as Tier })).toThrow("tier must be one of");
    expect(() => registerIn(gate, { tier: undefined as unknown as Tier })).toThrow("tier must be one of");
  });

  it.each([
    [0, { readOnlyHint: true, openWorldHint: false }],
    [1, { readOnlyHint: true, openWorldHint: true }],
    [2, { readOnlyHint: false, destructiveHint: false }],
    [3, { readOnlyHint: false, destructiveHint: true }],
  ] as const)("derives the annotations of tier %i, and names the tier in _meta", (tier, annotations) => {
    const registered = registerIn(createGate(options), { tier });
    expect(registered.annotations).toEqual(annotations);
    expect(registered._meta).toEqual({ "countersign/tier": tier });
  });

  it.each([
    [0, { readOnlyHint: false }],
    [0, { destructiveHint: true }],
    [1, { openWorldHint: false }],
    [2, { readOnlyHint: true }],
    [2, { destructiveHint: true }],
    [3, { readOnlyHint: true }],
    [3, { destructiveHint: false }],
  ] as const)("refuses annotations that contradict tier %i: %j", (tier, annotations) => {
    expect(() => registerIn(createGate(options), { tier, annotations })).toThrow(`contradicts tier ${tier}`);
  });

  it("refuses names that a policy cannot hold, tier 3 without a presentation, and figures outside their bounds", () => {
    const gate = createGate(options);
    for (const tool of ["", "a b", "ツール", "x".repeat(129)])
      expect(() => registerIn(gate, { tool, tier: 0 })).toThrow("is no tool name");
    expect(() => registerIn(gate, { tier: 3, presentation: undefined })).toThrow("needs a presentation");
    for (const bad of [{ ttlSeconds: 9 }, { actBySeconds: 3601 }, { maxItems: 0 }])
      expect(() => registerIn(gate, { tier: 3, ...bad })).toThrow(RangeError);
    expect(() => registerIn(gate, { tier: 2, ...{ repeatSeconds: 3601 } })).toThrow(RangeError);
    expect(() => registerIn(gate, { tier: 1, ...{ maxResultCharacters: 99 } })).toThrow(RangeError);
  });
});

type AddTools = (server: McpServer, gate: Gate) => void;

async function setTools(addTools: AddTools, gate: Partial<GateOptions> = {}) {
  const service = await startFakeService();
  onTestFinished(service.close);
  const events: GateEvent[] = [];
  const server = await startSmallServer({
    service,
    addTools,
    gate: { onEvent: (event) => events.push(event), ...gate },
  });
  onTestFinished(server.close);
  const call = async (round: Partial<RawRound>) =>
    (await sendRound({ url: server.url, args: { name: "A" }, ...round })).result;
  return { service, events, call };
}

describe("tier 1", () => {
  const addFetch: AddTools = (server, gate) => {
    gate.guard(
      { server, tool: "fetch_url", tier: 1, inputSchema, source: ({ name }) => name, maxResultCharacters: 100 },
      ({ name }) => ({
        content: [
          { type: "text", text: `${name}]\n${"x".repeat(200)}` },
          { type: "text", text: "more" },
        ],
        structuredContent: { big: "y".repeat(200) },
      }),
    );
    gate.guard({ server, tool: "delete_it", tier: 3, inputSchema, presentation }, () => text("ran"));
  };

  it("sets the texts of a result apart with a mark that they cannot know, bounds them all together, and drops what cannot be cut", async () => {
    const { call } = await setTools(addFetch);
    const [first, second] = [await call({ tool: "fetch_url" }), await call({ tool: "fetch_url" })];
    const texts = first?.content?.map((block) => block.text) ?? [];
    const mark = /^\[([0-9a-f]{16}): what follows was written by others \(A\)/.exec(texts[0] ?? "")?.[1] ?? "";
    expect(texts[0]).toMatch(/x\n\[cut here: it was too long\]\n\[[0-9a-f]{16}: end of what others wrote\]$/);
    expect((texts[0]?.match(/x/g) ?? []).length).toBeLessThan(100);
    expect(texts[1]).not.toContain("more");
    expect(mark).not.toBe("");
    expect(JSON.stringify(second)).not.toContain(mark);
    expect(first).not.toHaveProperty("structuredContent");
    expect(first?._meta).toMatchObject({ "countersign/untrusted": "A" });
  });

  it("is told on a later approval page: what the agent read before it asked", async () => {
    const { service, call } = await setTools(addFetch);
    await call({ tool: "delete_it", args: { name: "1" } });
    await call({ tool: "fetch_url", args: { name: "evil.example\u202e" } });
    await call({ tool: "fetch_url", args: { name: "news.example" } });
    await call({ tool: "delete_it", args: { name: "2" } });
    const [before, later] = service.seen
      .filter(({ route }) => route === "mint")
      .map(({ body }) => body["presentation"]);
    expect(before).not.toHaveProperty("details");
    expect(later).toMatchObject({
      details: [{ label: { en: "Before asking, the AI read" }, value: "news.example, evil.example ", risk: true }],
    });
  });

  it("is not told of what somebody else's agent has read", async () => {
    let sub = "bob";
    const { service, call } = await setTools(addFetch, {
      resolveCaller: () => ({ iss: "https://as.example.com", sub }),
    });
    await call({ tool: "fetch_url" });
    sub = "alice";
    await call({ tool: "delete_it" });
    expect(service.seen[0]?.body["presentation"]).not.toHaveProperty("details");
  });
});

describe("tier 2", () => {
  const counted =
    (seen: string[]): AddTools =>
    (server, gate) => {
      gate.guard({ server, tool: "rename", tier: 2, inputSchema }, ({ name }, _ctx, { idempotencyKey }) => {
        seen.push(idempotencyKey);
        return name === "bad" ? { isError: true, ...text("no") } : text(`renamed ${seen.length}`);
      });
    };

  it("an equal write a moment later is answered with the first one's result, and recorded as repeated", async () => {
    const seen: string[] = [];
    const { call, events } = await setTools(counted(seen));
    const results = await Promise.all([1, 2, 3].map(() => call({ tool: "rename" })));
    expect(results.map((result) => result?.content?.[0]?.text)).toEqual(["renamed 1", "renamed 1", "renamed 1"]);
    expect(results.filter((result) => result?.content?.[1]?.text?.includes("not run a second time"))).toHaveLength(2);
    expect(seen).toHaveLength(1);
    expect(events.map((event) => event.type === "wrote" && event.repeated).toSorted()).toEqual([false, true, true]);
  });

  it("other arguments, another caller and a failed write are each run", async () => {
    const seen: string[] = [];
    let sub = "alice";
    const { call } = await setTools(counted(seen), { resolveCaller: () => ({ iss: "https://as.example.com", sub }) });
    await call({ tool: "rename" });
    await call({ tool: "rename", args: { name: "B" } });
    sub = "bob";
    await call({ tool: "rename" });
    await call({ tool: "rename", args: { name: "bad" } });
    await call({ tool: "rename", args: { name: "bad" } });
    expect(new Set(seen).size).toBe(4);
    expect(seen).toHaveLength(5);
  });

  it("the time within which a write counts as repeated ends", async () => {
    const seen: string[] = [];
    const { call } = await setTools(counted(seen));
    await call({ tool: "rename" });
    const now = performance.now();
    const clock = vi.spyOn(performance, "now").mockImplementation(() => now + 61_000);
    await call({ tool: "rename" });
    clock.mockRestore();
    expect(seen).toHaveLength(2);
  });
});

describe("tier 3", () => {
  const addDelete: AddTools = (server, gate) => {
    const items = ({ name }: { name: string }) => name.length;
    gate.guard({ server, tool: "delete_it", tier: 3, inputSchema, presentation, items, maxItems: 3 }, () =>
      text("ran"),
    );
  };

  it("asks nobody about more items than a person can judge in one look", async () => {
    const { service, call } = await setTools(addDelete);
    const result = await call({ tool: "delete_it", args: { name: "abcd" } });
    expect(result?._meta?.["countersign/ending"]).toBe("too_many_items");
    expect(service.seen).toEqual([]);
    expect(await call({ tool: "delete_it", args: { name: "abc" } })).toHaveProperty("requestState");
  });

  it("one piece of work asks for two approvals within ten minutes; asking for the same again is not another", async () => {
    const { service, call } = await setTools(addDelete, { maxApprovalsPerWorkflow: 2 });
    for (const name of ["a", "b", "a"])
      expect(await call({ tool: "delete_it", args: { name } })).toHaveProperty("requestState");
    const third = await call({ tool: "delete_it", args: { name: "c" } });
    expect(third?._meta?.["countersign/ending"]).toBe("too_many_asked");
    expect(third?.content?.[0]?.text).toContain("put it into one call");
    expect(service.approvals.size).toBe(2);
    const now = performance.now();
    const clock = vi.spyOn(performance, "now").mockImplementation(() => now + 601_000);
    expect(await call({ tool: "delete_it", args: { name: "c" } })).toHaveProperty("requestState");
    clock.mockRestore();
  });

  it("never falls to a form unless the operator says so aloud, and then the run is recorded as the MCP client's word", async () => {
    const formOnly = { elicitation: { form: {} } };
    const closed = await setTools(addDelete);
    expect(
      (await closed.call({ tool: "delete_it", args: { name: "a" }, capabilities: formOnly }))?._meta?.[
        "countersign/ending"
      ],
    ).toBe("ask_in_inbox");

    const { call, events, service } = await setTools(addDelete, { formFallback: "client_attested" });
    const round = { tool: "delete_it", args: { name: "a" }, capabilities: formOnly };
    const asked = await call(round);
    expect(asked?.["inputRequests"]).toMatchObject({ confirm: { params: { mode: "form", message: "Do it" } } });
    const inputResponses = { confirm: { action: "accept", content: { decision: "run" } } };
    const done = await call({ ...round, requestState: asked?.["requestState"], inputResponses });
    expect(done?.content?.map((block) => block.text)).toEqual([
      "ran",
      "It ran because the MCP client said that the user agreed. No approval by a person was proved.",
    ]);
    expect(done?._meta).toMatchObject({ "countersign/attested": "client" });
    expect(events).toMatchObject([
      { type: "ran_client_attested", tool: "delete_it", sub: "alice", outcome: "succeeded" },
    ]);
    expect(service.seen).toEqual([]);
    expect(await call({ tool: "delete_it", args: { name: "a" } })).toMatchObject({ inputRequests: { approval: {} } });
  });

  it("the form fallback without a record of it is refused", () => {
    expect(() => createGate({ ...options, formFallback: "client_attested" })).toThrow("formFallback needs onEvent");
  });
});
