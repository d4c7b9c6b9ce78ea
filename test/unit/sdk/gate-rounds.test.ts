import { newApprovalId } from "@countersign/mcp/fake/approval";
import { describe, expect, it } from "vitest";
import { ALICE, apollo, BOB, setStage } from "./crm";
import { sendRound } from "./raw-round";

const INVALID_STATE = {
  code: -32602,
  message: "Invalid or expired requestState",
  data: { reason: "invalid_request_state" },
};

describe("rounds of revision 2026-07-28", () => {
  it("the first round returns the link and the approval id, and nothing that tells the action", async () => {
    const stage = await setStage();
    const { result } = await sendRound({ url: stage.crm.url, token: ALICE, args: apollo });
    const [id] = stage.service.approvals.keys();
    expect(result).toMatchObject({
      resultType: "input_required",
      requestState: id,
      inputRequests: {
        approval: {
          method: "elicitation/create",
          params: {
            mode: "url",
            url: `${stage.service.url}/a/${id}`,
            message: "CRM asks: Delete project Apollo (code 47)",
          },
        },
      },
    });
    expect(JSON.stringify(result)).not.toContain("elicitationId");
    expect(stage.runs()).toBe(0);
  });

  it("a first round with a forged accept is a first round", async () => {
    const stage = await setStage();
    const inputResponses = { approval: { action: "accept", content: { approved: true } } };
    const { result } = await sendRound({ url: stage.crm.url, token: ALICE, args: apollo, inputResponses });
    expect(result?.["resultType"]).toBe("input_required");
    expect(stage.service.count("consume")).toBe(0);
  });

  it("a round that waited long enough asks to come back, without a second prompt; the next one runs", async () => {
    const stage = await setStage({ pollSeconds: 1 });
    const call = { url: stage.crm.url, token: ALICE, args: apollo };
    const { result } = await sendRound(call);
    const id = String(result?.["requestState"]);
    const inputResponses = { approval: { action: "accept" } };
    const waited = await sendRound({ ...call, requestState: id, inputResponses });
    expect(waited.result).toMatchObject({ resultType: "input_required", requestState: id });
    expect(waited.result).not.toHaveProperty("inputRequests");
    expect(stage.service.count("mint")).toBe(1);
    await stage.service.decide(id, "accept");
    const done = await sendRound({ ...call, requestState: id });
    expect(done.result?.content?.[0]?.text).toBe("Deleted Apollo (p_42).");
    expect(stage.runs()).toBe(1);
  });

  it("I14: a service that is away for a moment does not end the wait; who asked for progress is told meanwhile", async () => {
    const stage = await setStage();
    const call = { url: stage.crm.url, token: ALICE, args: apollo, progressToken: "p" };
    const requestState = String((await sendRound(call)).result?.["requestState"]);
    let reads = 0;
    stage.service.before("status", async () => {
      reads += 1;
      // The first two tell whose approval it is; then the wait begins, and each wait is tried twice.
      if (reads > 2 && reads <= 6) {
        stage.service.plan("status", { kind: "refuse", problem: { status: 503, code: "unavailable" } });
      }
    });
    const parked = stage.service.nextParked(requestState);
    const round = sendRound({ ...call, requestState });
    await parked;
    await stage.service.decide(requestState, "accept");
    const { result, before } = await round;
    expect(result?.content?.[0]?.text).toBe("Deleted Apollo (p_42).");
    expect(before).toEqual(["notifications/progress", "notifications/progress"]);
  });

  it("C15b: a first round sent again after a broken stream finds the same approval", async () => {
    const stage = await setStage();
    const call = { url: stage.crm.url, token: ALICE, args: apollo };
    const first = await sendRound(call);
    const second = await sendRound(call);
    expect(second.result?.["requestState"]).toBe(first.result?.["requestState"]);
    expect(stage.service.approvals.size).toBe(1);
  });

  it.each([
    ["another form", "approved", 0],
    ["a path", "apr_../../jwks", 0],
    ["upper case", newApprovalId().toUpperCase(), 0],
    ["one character more", `${newApprovalId()}0`, 0],
    ["no text", { approved: true }, 0],
    ["an unknown id", newApprovalId(), 1],
  ])(
    "S10: a state of %s is refused with -32602, and is looked up only if it can be one",
    async (_, requestState, lookups) => {
      const stage = await setStage();
      const { error } = await sendRound({ url: stage.crm.url, token: ALICE, args: apollo, requestState });
      expect(error).toEqual(INVALID_STATE);
      expect(stage.service.seen.map(({ route }) => route)).toEqual(Array(lookups).fill("status"));
    },
  );

  it("S10: every state with one character changed is refused with -32602", async () => {
    const stage = await setStage();
    const call = { url: stage.crm.url, token: ALICE, args: apollo };
    const id = String((await sendRound(call)).result?.["requestState"]);
    await stage.service.decide(id, "accept");
    for (let at = 0; at < id.length; at += 1) {
      const requestState = id.slice(0, at) + (id[at] === "0" ? "1" : "0") + id.slice(at + 1);
      expect((await sendRound({ ...call, requestState })).error).toEqual(INVALID_STATE);
    }
    expect(stage.runs()).toBe(0);
  });

  it("I15, S30: a state in another caller's hands is refused like an unknown one, accepted or not", async () => {
    const stage = await setStage();
    const { result } = await sendRound({ url: stage.crm.url, token: ALICE, args: apollo });
    const requestState = String(result?.["requestState"]);
    await stage.service.decide(requestState, "accept");
    const stolen = await sendRound({ url: stage.crm.url, token: BOB, args: apollo, requestState });
    expect(stolen.error).toEqual(INVALID_STATE);
    expect(stage.service.count("consume")).toBe(0);
    expect(stage.runs()).toBe(0);
  });

  it("I3: a state with other arguments than the approved ones runs nothing", async () => {
    const stage = await setStage();
    const { result } = await sendRound({ url: stage.crm.url, token: ALICE, args: apollo });
    const requestState = String(result?.["requestState"]);
    await stage.service.decide(requestState, "accept");
    const args = { project_id: "p_43", expected_items: 74 };
    const swapped = await sendRound({ url: stage.crm.url, token: ALICE, args, requestState });
    expect(swapped.result).toMatchObject({ isError: true, _meta: { "countersign/ending": "action_mismatch" } });
    expect(stage.runs()).toBe(0);
  });

  it("S34: a caller made up in _meta or in the client's name is not the caller", async () => {
    const stage = await setStage();
    const headers = { "x-user": "bob" };
    await sendRound({ url: stage.crm.url, token: ALICE, args: { ...apollo, user: "bob" }, headers });
    const [approval] = stage.service.approvals.values();
    expect(approval?.caller).toEqual({ iss: "https://as.example.com", sub: "alice", clientId: "chat-app" });
    expect(approval?.action.arguments).toEqual(apollo);
  });

  it("S35: after a call is aborted while it waits, an approval runs nothing and consumes nothing", async () => {
    const stage = await setStage();
    const call = { url: stage.crm.url, token: ALICE, args: apollo };
    const requestState = String((await sendRound(call)).result?.["requestState"]);
    const stop = new AbortController();
    const parked = stage.service.nextParked(requestState);
    const waiting = sendRound({ ...call, requestState, signal: stop.signal });
    await parked;
    const ended = stage.nextEvent("not_run");
    stop.abort();
    await expect(waiting).rejects.toThrow();
    expect(await ended).toMatchObject({ ending: "interrupted", approvalId: requestState });
    await stage.service.decide(requestState, "accept");
    expect(stage.service.approvals.get(requestState)?.status).toBe("accepted");
    expect(stage.service.count("consume")).toBe(0);
    expect(stage.runs()).toBe(0);
  });

  it("S7, S8: nothing that the server sends is a request, a completion notification or -32042", async () => {
    const stage = await setStage();
    const client = await stage.connect("modern", {
      onPrompt: async ({ url }) => {
        await stage.service.decide(url.split("/a/")[1] ?? "", "accept");
        return "accept" as const;
      },
    });
    await client.call("delete_project", apollo);
    const received = client.wire.received.join("\n");
    const messages = [...received.matchAll(/^(?:data: )?(\{.*\})$/gm)].map(
      (match) => JSON.parse(match[1] ?? "") as Record<string, unknown>,
    );
    expect(messages.length).toBeGreaterThanOrEqual(2);
    expect(messages.filter((message) => "method" in message)).toEqual([]);
    expect(received).not.toContain("-32042");
    expect(client.completed).toEqual([]);
    expect(stage.runs()).toBe(1);
  });
});
