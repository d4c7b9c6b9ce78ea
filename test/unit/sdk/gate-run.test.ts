import { EventEmitter, once } from "node:events";
import type { Gate } from "@countersign/mcp";
import type { CallToolResult, McpServer, ServerContext } from "@modelcontextprotocol/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { ALICE, apollo, setStage } from "./crm";
import { newApprovalId } from "./fake-approvals";
import { startFakeService } from "./fake-service";
import { sendRound } from "./raw-round";
import { type SmallServerOptions, startSmallServer } from "./small-server";

type Args = { list: string[]; note?: string | undefined };

type SmallStageOptions = Partial<SmallServerOptions> & {
  presentation?: (args: Args) => { title: string };
  preconditions?: (args: Args, ctx: ServerContext) => Promise<Record<string, unknown>>;
};

async function setSmallStage(handler: (args: Args) => CallToolResult, options: SmallStageOptions = {}) {
  const service = await startFakeService();
  onTestFinished(service.close);
  const inputSchema = z.object({ list: z.array(z.string()), note: z.string().optional() });
  const { presentation = () => ({ title: "Do it" }), preconditions = async () => ({}) } = options;
  const addTools = (server: McpServer, gate: Gate) => {
    const spec = { server, tool: "do_it", presentation, preconditions };
    server.registerTool("do_it", { inputSchema }, gate.guard(spec, handler));
  };
  const server = await startSmallServer({ service, addTools, ...options });
  onTestFinished(server.close);
  const call = { url: server.url, tool: "do_it", args: { list: ["b", "a"] } as Record<string, unknown> };
  return { service, call };
}

/** Asks, and gives the id of the approval. */
async function ask(call: Parameters<typeof sendRound>[0]): Promise<string> {
  return String((await sendRound(call)).result?.["requestState"]);
}

describe("running what was approved", () => {
  it("I14: a consume whose answer was lost is sent again with the same token, and the tool runs once", async () => {
    const stage = await setStage();
    const call = { url: stage.crm.url, token: ALICE, args: apollo };
    const requestState = await ask(call);
    await stage.service.decide(requestState, "accept");
    stage.service.plan("consume", { kind: "drop" });
    const { result } = await sendRound({ ...call, requestState });
    expect(result?.content?.[0]?.text).toBe("Deleted Apollo (p_42).");
    const attempts = stage.service.seen.filter(({ route }) => route === "consume");
    expect(attempts).toHaveLength(2);
    expect(attempts[0]?.body["consumerToken"]).toBe(attempts[1]?.body["consumerToken"]);
    expect(String(attempts[0]?.body["consumerToken"])).toMatch(/^[\w-]{43}$/);
    expect(stage.runs()).toBe(1);
  });

  it("I5: twenty rounds at once run it once; the others say that it has run", async () => {
    const stage = await setStage();
    const call = { url: stage.crm.url, token: ALICE, args: apollo };
    const requestState = await ask(call);
    await stage.service.decide(requestState, "accept");
    const rounds = await Promise.all(Array.from({ length: 20 }, () => sendRound({ ...call, requestState })));
    const texts = rounds.map(({ result }) => result?.content?.[0]?.text ?? "");
    expect(texts.filter((text) => text === "Deleted Apollo (p_42).")).toHaveLength(1);
    expect(texts.filter((text) => text.startsWith('"delete_project" was not run again.'))).toHaveLength(19);
    expect(stage.runs()).toBe(1);
  });

  it.each(["succeeded", "failed", "unknown"])(
    "I5: a spent approval answers that it %s, and runs nothing",
    async (outcome) => {
      const stage = await setStage();
      const call = { url: stage.crm.url, token: ALICE, args: apollo };
      const requestState = await ask(call);
      await stage.service.decide(requestState, "accept");
      Object.assign(stage.service.approvals.get(requestState) ?? {}, { consumerToken: "another", outcome });
      const { result } = await sendRound({ ...call, requestState });
      expect(result?._meta?.["countersign/ending"]).toBe(`already_run_${outcome}`);
      expect(stage.runs()).toBe(0);
    },
  );

  it("I3: the handler gets the approved value, whatever the presentation did to what it was given", async () => {
    const got: Args[] = [];
    const { service, call } = await setSmallStage(
      (args) => {
        got.push(structuredClone(args));
        args.list.sort();
        return { content: [] };
      },
      {
        presentation: (args) => {
          expect(() => args.list.push("c")).toThrow(TypeError);
          return { title: "Do it" };
        },
      },
    );
    const requestState = await ask(call);
    await service.decide(requestState, "accept");
    const { result } = await sendRound({ ...call, requestState });
    expect(result?.["isError"]).toBeUndefined();
    expect(got).toEqual([{ list: ["b", "a"] }]);
    expect(service.approvals.get(requestState)?.action.arguments).toEqual({ list: ["b", "a"] });
  });

  it("a handler that throws ends as failed, is reported as failed, and says that a part may be done", async () => {
    const { service, call } = await setSmallStage(() => {
      throw new Error("disk full");
    });
    const requestState = await ask(call);
    await service.decide(requestState, "accept");
    const { result } = await sendRound({ ...call, requestState });
    expect(result?.["isError"]).toBe(true);
    expect(result?.content?.[0]?.text).toContain("was approved and started, and it failed: disk full");
    expect(service.approvals.get(requestState)?.outcome).toBe("failed");
  });

  it("a handler that gives no result at all is told as started, never as not run", async () => {
    const { service, call } = await setSmallStage(() => undefined as unknown as CallToolResult);
    const requestState = await ask(call);
    await service.decide(requestState, "accept");
    const { result } = await sendRound({ ...call, requestState });
    expect(result?.content?.[0]?.text).toContain("was approved and started");
    expect(service.count("consume")).toBe(1);
  });

  it("the words with which the person approved are told beside the result", async () => {
    const { service, call } = await setSmallStage(() => ({ content: [{ type: "text", text: "Done." }] }));
    const requestState = await ask(call);
    await service.decide(requestState, "accept", { note: "only this once" });
    const { result } = await sendRound({ ...call, requestState });
    const texts = result?.content?.map(({ text }) => text);
    expect(texts).toEqual(["Done.", "The user's note, in their own words: “only this once”"]);
  });

  it("an error result is the tool's own answer, reported as failed", async () => {
    const { service, call } = await setSmallStage(() => ({ isError: true, content: [{ type: "text", text: "No." }] }));
    const requestState = await ask(call);
    await service.decide(requestState, "accept");
    const { result } = await sendRound({ ...call, requestState });
    expect(result?.content?.[0]?.text).toBe("No.");
    expect(service.approvals.get(requestState)?.outcome).toBe("failed");
  });

  it.each([
    ["before the grant, consumes nothing", "preconditions", 0, undefined],
    ["while the grant is under way, is reported as failed", "consume", 1, "failed"],
  ] as const)("S35: a call aborted %s, and runs nothing", async (_, moment, consumes, outcome) => {
    const runs: Args[] = [];
    const stop = new AbortController();
    const over = new EventEmitter();
    let signal = new AbortController().signal;
    const abort = async () => {
      stop.abort();
      if (!signal.aborted) await once(signal, "abort");
    };
    const { service, call } = await setSmallStage(
      (args) => {
        runs.push(args);
        return { content: [] };
      },
      {
        gate: { onEvent: (event) => over.emit(event.type, event) },
        preconditions: async (_args, ctx) => {
          signal = ctx.mcpReq.signal;
          if (moment === "preconditions" && service.approvals.size > 0) await abort();
          return {};
        },
      },
    );
    const requestState = await ask(call);
    await service.decide(requestState, "accept");
    if (moment === "consume") service.before("consume", abort);
    const ended = once(over, "not_run");
    await expect(sendRound({ ...call, requestState, signal: stop.signal })).rejects.toThrow();
    expect(await ended).toMatchObject([{ ending: "interrupted" }]);
    expect(runs).toEqual([]);
    expect(service.count("consume")).toBe(consumes);
    expect(service.approvals.get(requestState)?.outcome).toBe(outcome);
  });

  it("an outcome that cannot be reported changes nothing for the agent and runs nothing again", async () => {
    const stage = await setStage();
    const call = { url: stage.crm.url, token: ALICE, args: apollo };
    const requestState = await ask(call);
    await stage.service.decide(requestState, "accept");
    for (let times = 0; times < 2; times += 1) {
      stage.service.plan("outcome", { kind: "refuse", problem: { status: 503, code: "unavailable" } });
    }
    const { result } = await sendRound({ ...call, requestState });
    expect(result?.content?.[0]?.text).toBe("Deleted Apollo (p_42).");
    expect(stage.events).toContainEqual(
      expect.objectContaining({ type: "call_failed", call: "outcome", code: "unavailable" }),
    );
    expect(stage.runs()).toBe(1);
  });

  it("stale: what changed between asking and running is not run", async () => {
    const stage = await setStage();
    const call = { url: stage.crm.url, token: ALICE, args: apollo };
    const requestState = await ask(call);
    await sendRound({ ...call, tool: "update_project", args: { project_id: "p_42", name: "Artemis" } });
    await stage.service.decide(requestState, "accept");
    const { result } = await sendRound({ ...call, requestState });
    expect(result?._meta?.["countersign/ending"]).toBe("stale");
    expect(stage.runs()).toBe(0);
  });

  it("I12: an approval that was not used in time has lapsed", async () => {
    const stage = await setStage();
    const call = { url: stage.crm.url, token: ALICE, args: apollo };
    const requestState = await ask(call);
    await stage.service.decide(requestState, "accept");
    Object.assign(stage.service.approvals.get(requestState) ?? {}, { lapsed: true });
    const { result } = await sendRound({ ...call, requestState });
    expect(result?._meta?.["countersign/ending"]).toBe("lapsed");
    expect(stage.service.count("consume")).toBe(0);
  });

  it("taken back between the answer and the grant: says so, and runs nothing", async () => {
    const stage = await setStage();
    const call = { url: stage.crm.url, token: ALICE, args: apollo };
    const requestState = await ask(call);
    await stage.service.decide(requestState, "accept");
    stage.service.before("consume", () => stage.service.end(requestState, "withdrawn", "taken_back"));
    const { result } = await sendRound({ ...call, requestState });
    expect(result?._meta?.["countersign/ending"]).toBe("withdrawn_taken_back");
    expect(stage.runs()).toBe(0);
  });

  it("without the server's hook a foreign state is still refused, by the tool itself", async () => {
    const { service, call } = await setSmallStage(() => ({ content: [] }), { hook: false });
    const { result } = await sendRound({ ...call, requestState: newApprovalId() });
    expect(result).toMatchObject({ isError: true, _meta: { "countersign/ending": "invalid_state" } });
    expect(service.count("consume")).toBe(0);
  });

  it.each([
    ["no extra", undefined],
    ["no sub", { iss: "https://as.example.com" }],
    ["an empty sub", { iss: "https://as.example.com", sub: "" }],
    ["a sub that is no text", { iss: "https://as.example.com", sub: 7 }],
  ])("S22: a call whose token has %s asks nobody and runs nothing", async (_, extra) => {
    const { service, call } = await setSmallStage(() => ({ content: [] }), { extra });
    const { result } = await sendRound(call);
    expect(result).toMatchObject({ isError: true, _meta: { "countersign/ending": "no_caller" } });
    expect(service.seen).toEqual([]);
  });

  it("arguments that JSON would alter are refused with their place, and nobody is asked", async () => {
    const { service, call } = await setSmallStage(() => ({ content: [] }));
    const { result } = await sendRound({ ...call, args: { list: [], note: "a\u0000b" } });
    expect(result?._meta?.["countersign/ending"]).toBe("unfit_arguments");
    expect(result?.content?.[0]?.text).toContain("Where: /note");
    expect(service.seen).toEqual([]);
  });
});
