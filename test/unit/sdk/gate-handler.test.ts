import { EventEmitter, once } from "node:events";
import { newApprovalId } from "@countersign/mcp/fake/approval";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";
import { askRound as ask, sendRound } from "./raw-round";
import { type Args, setSmallStage } from "./small-server";

describe("a handler behind the gate", () => {
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
