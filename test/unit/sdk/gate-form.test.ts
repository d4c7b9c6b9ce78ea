import type { GateEvent, GateOptions } from "@countersign/mcp";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { startFakeService } from "./fake-service";
import { type RawRound, sendRound } from "./raw-round";
import { startSmallServer } from "./small-server";

const form = { elicitation: { form: {} } };
const yes = { confirm: { action: "accept", content: { decision: "run" } } };

/** A server with two tools of tier 2 that ask in a form; `who` says whose the calls are. */
async function setForms(options: { gate?: Partial<GateOptions> } = {}) {
  const service = await startFakeService();
  onTestFinished(service.close);
  const ran: unknown[] = [];
  const events: GateEvent[] = [];
  const who = { iss: "https://as.example.com", sub: "alice", clientId: "chat-app" };
  const resolveCaller = () => ({ ...who });
  const server = await startSmallServer({
    service,
    gate: { resolveCaller, onEvent: (event) => events.push(event), ...options.gate },
    addTools: (mcp, gate) => {
      for (const tool of ["rename", "move"]) {
        const inputSchema = z.object({ name: z.string() });
        const confirm = ({ name }: { name: string }) => ({ message: `Rename it to ${name}?` });
        gate.guard({ server: mcp, tool, tier: 2, inputSchema, confirm, repeatSeconds: 0 }, (args) => {
          ran.push(args);
          return { content: [{ type: "text", text: "renamed" }] };
        });
      }
    },
  });
  onTestFinished(server.close);
  const call: RawRound = { url: server.url, tool: "rename", args: { name: "B" }, capabilities: form };
  const ask = async (round: Partial<RawRound> = {}) => (await sendRound({ ...call, ...round })).result;
  return {
    service,
    ran,
    events,
    who,
    call,
    ask,
    send: (round: Partial<RawRound>) => sendRound({ ...call, ...round }),
    url: server.url,
  };
}

const stateOf = (result: Record<string, unknown> | undefined) => String(result?.["requestState"]);

describe("the form of tier 2, in rounds", () => {
  it("asks one required question without a default and without a link, and runs on its one right answer", async () => {
    const { ask, ran, events } = await setForms();
    const asked = await ask();
    expect(asked?.["inputRequests"]).toEqual({
      confirm: {
        method: "elicitation/create",
        params: {
          mode: "form",
          message: "Rename it to B?",
          requestedSchema: {
            type: "object",
            properties: {
              decision: {
                type: "string",
                title: "Run it?",
                oneOf: [
                  { const: "do_not_run", title: "Do not run it" },
                  { const: "run", title: "Run it" },
                ],
              },
            },
            required: ["decision"],
          },
        },
      },
    });
    expect(JSON.stringify(asked)).not.toMatch(/"default"|https?:/);
    expect(ran).toEqual([]);
    const done = await ask({ requestState: stateOf(asked), inputResponses: yes });
    expect(done?.content?.[0]?.text).toBe("renamed");
    expect(ran).toEqual([{ name: "B" }]);
    expect(events).toMatchObject([
      { type: "wrote", tool: "rename", sub: "alice", outcome: "succeeded", repeated: false },
    ]);
  });

  it.each([
    ["a decline", { confirm: { action: "decline" } }, "form_declined"],
    [
      "the choice not to run it",
      { confirm: { action: "accept", content: { decision: "do_not_run" } } },
      "form_declined",
    ],
    ["a cancel", { confirm: { action: "cancel" } }, "form_cancelled"],
    [
      "an accept of an empty form, as programs send it",
      { confirm: { action: "accept", content: {} } },
      "form_unanswered",
    ],
    ["an accept without any content", { confirm: { action: "accept" } }, "form_unanswered"],
    ["a value that is not offered", { confirm: { action: "accept", content: { decision: true } } }, "form_unanswered"],
    [
      "a field beside the one",
      { confirm: { action: "accept", content: { decision: "run", all: true } } },
      "form_unanswered",
    ],
    [
      "an answer under another key",
      { approval: { action: "accept", content: { decision: "run" } } },
      "form_unanswered",
    ],
    ["no answer at all", undefined, "form_unanswered"],
  ])("runs nothing on %s", async (_, inputResponses, ending) => {
    const { ask, ran } = await setForms();
    const requestState = stateOf(await ask());
    const result = await ask({ requestState, ...(inputResponses === undefined ? {} : { inputResponses }) });
    expect(result?._meta?.["countersign/ending"]).toBe(ending);
    expect(result?.content?.[0]?.text).toContain('"rename" did not run.');
    expect(ran).toEqual([]);
  });

  it("S26: holds no link and one line, whatever the arguments put into its message", async () => {
    const { ask } = await setForms();
    const args = { name: "B\n\nFirst sign in at https://evil.example.com/login\u202e" };
    const message = "Rename it to B First sign in at https: //evil.example.com/login?";
    expect((await ask({ args }))?.["inputRequests"]).toMatchObject({ confirm: { params: { message } } });
  });

  it("an accept without a state is a first round: it asks", async () => {
    const { ask, ran } = await setForms();
    expect(stateOf(await ask({ inputResponses: yes }))).toMatch(/^v1\./);
    expect(ran).toEqual([]);
  });

  it("S10, S11: a state of other arguments, of another tool, of another user or MCP client runs nothing", async () => {
    const stage = await setForms();
    const requestState = async () => stateOf(await stage.ask());
    const answered = { inputResponses: yes };
    const swapped = await stage.ask({ ...answered, requestState: await requestState(), args: { name: "C" } });
    const elsewhere = await stage.ask({ ...answered, requestState: await requestState(), tool: "move" });
    const alices = [await requestState(), await requestState()];
    Object.assign(stage.who, { sub: "bob" });
    const bobs = await stage.ask({ ...answered, requestState: alices[0] });
    Object.assign(stage.who, { sub: "alice", clientId: "other-app" });
    const others = await stage.ask({ ...answered, requestState: alices[1] });
    for (const result of [swapped, elsewhere, bobs, others])
      expect(result?._meta?.["countersign/ending"]).toBe("invalid_state");
    expect(stage.ran).toEqual([]);
  });

  it("S12: a state is answered once, also by twenty rounds at the same moment", async () => {
    const stage = await setForms();
    const requestState = stateOf(await stage.ask());
    const results = await Promise.all(
      Array.from({ length: 20 }, () => stage.ask({ requestState, inputResponses: yes })),
    );
    expect(results.filter((result) => result?.content?.[0]?.text === "renamed")).toHaveLength(1);
    expect(stage.ran).toHaveLength(1);
  });

  it("S10: a state with one character changed, of another process, or late is answered with -32602", async () => {
    const stage = await setForms();
    const requestState = stateOf(await stage.ask());
    const other = stateOf(await (await setForms()).ask());
    const at = requestState.length - 5;
    const changed = `${requestState.slice(0, at)}${requestState[at] === "A" ? "B" : "A"}${requestState.slice(at + 1)}`;
    for (const state of [changed, other, "", "v1.x.y"])
      expect((await stage.send({ requestState: state, inputResponses: yes })).error?.code).toBe(-32602);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 301_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect((await stage.send({ requestState, inputResponses: yes })).error?.code).toBe(-32602);
    expect(stage.ran).toEqual([]);
  });

  it("S24: the state tells the MCP client neither who nor what", async () => {
    const { ask } = await setForms();
    const payload = Buffer.from(stateOf(await ask()).split(".")[1] ?? "", "base64url").toString();
    expect(payload).not.toMatch(/alice|as\.example|rename|chat-app/);
  });

  it("a client without forms is told so, and nothing runs", async () => {
    const { ask, ran } = await setForms();
    for (const capabilities of [{}, { elicitation: { url: {} } }])
      expect((await ask({ capabilities }))?._meta?.["countersign/ending"]).toBe("form_required");
    expect(ran).toEqual([]);
  });

  it("no verified caller, no form and no run", async () => {
    const { ask, ran } = await setForms({ gate: { resolveCaller: () => undefined } });
    expect((await ask())?._meta?.["countersign/ending"]).toBe("no_caller");
    expect(ran).toEqual([]);
  });
});
