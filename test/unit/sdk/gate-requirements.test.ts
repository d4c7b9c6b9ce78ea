import { describe, expect, it, onTestFinished } from "vitest";
import { ALICE, apollo, setStage } from "./crm";
import { BOTH_MODES, clientKinds } from "./mcp-clients";
import { sendRound } from "./raw-round";
import { setSmallStage } from "./small-server";

const answered = (action: unknown) => ({ approval: { action } });

describe("what a prompt holds", () => {
  it.each(["modern", "legacy", "v1"] as const)(
    "S3: the %s client gets mode url, a message and a link that is a URL, and an id of its own only in 2025-11-25",
    async (kind) => {
      const stage = await setStage();
      const client = await stage.connect(kind, { onPrompt: () => "cancel" });
      await client.call("delete_project", apollo);
      const [prompt] = client.prompts as unknown as Record<string, unknown>[];
      const own = kind === "modern" ? {} : { elicitationId: expect.stringMatching(/^[0-9a-f-]{36}$/) };
      const link = expect.stringMatching(new RegExp(`^${stage.service.url}/a/apr_[0-9a-z]{26}$`));
      const { _meta, ...sent } = prompt ?? {};
      expect(sent).toEqual({ mode: "url", message: expect.stringMatching(/\S/), url: link, ...own });
    },
  );

  it.each(["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "/a/apr_1", "", 7])(
    "S3: nobody is given %j as a link, and nothing runs",
    async (url) => {
      const stage = await setStage({
        fetch: async (address, init) => {
          const response = await fetch(address, init);
          if (!address.endsWith("/approvals")) return response;
          const minted = (await response.json()) as Record<string, unknown>;
          return Response.json({ ...minted, elicitation: { mode: "url", url, message: "Open it" } }, { status: 201 });
        },
      });
      for (const kind of ["modern", "legacy"] as const) {
        const client = await stage.connect(kind);
        const result = await client.call("delete_project", apollo);
        expect(result.isError).toBe(true);
        expect(client.prompts).toEqual([]);
      }
      expect(stage.runs()).toBe(0);
    },
  );

  it("S9: each result says of what type it is; one that asks has a request under one key, or a state, and no other does", async () => {
    const stage = await setStage({ pollSeconds: 1 });
    const call = { url: stage.crm.url, token: ALICE, args: apollo };
    const asked = (await sendRound(call)).result;
    const requestState = String(asked?.["requestState"]);
    const again = (await sendRound({ ...call, requestState })).result;
    await stage.service.decide(requestState, "decline");
    const ended = (await sendRound({ ...call, requestState })).result;
    const listed = (await sendRound({ ...call, tool: "list_projects", args: {} })).result;
    expect([asked, again, ended, listed].map((result) => result?.["resultType"])).toEqual([
      "input_required",
      "input_required",
      "complete",
      "complete",
    ]);
    expect(Object.keys(asked?.["inputRequests"] ?? {})).toEqual(["approval"]);
    expect([asked, again].map((result) => result?.["requestState"])).toEqual([requestState, requestState]);
    for (const result of [ended, listed]) {
      expect(result).not.toHaveProperty("requestState");
      expect(result).not.toHaveProperty("inputRequests");
    }
  });
});

describe("what a client's answer does", () => {
  it("S13: an accept that no call comes back for runs nothing, and neither does one that comes back too late", async () => {
    const stage = await setStage();
    const call = { url: stage.crm.url, token: ALICE, args: apollo };
    const requestState = String((await sendRound(call)).result?.["requestState"]);
    await stage.service.decide(requestState, "accept");
    await sendRound({ ...call, tool: "list_projects", args: {} });
    expect([stage.service.count("status"), stage.service.count("consume"), stage.runs()]).toEqual([0, 0, 0]);
    stage.service.lapse(requestState);
    expect((await sendRound({ ...call, requestState })).result?._meta?.["countersign/ending"]).toBe("lapsed");
    expect(stage.runs()).toBe(0);
  });

  it.each([
    ["an answer under another key", { other: { action: "decline" } }],
    ["another key beside an accept", { ...answered("accept"), other: { action: "decline" } }],
    ["contents that nobody asked for", { approval: { action: "accept", content: { decision: "decline" } } }],
    ["no answer", undefined],
  ])("S15: %s is passed over: the person's decision counts", async (_, inputResponses) => {
    const stage = await setStage();
    const call = { url: stage.crm.url, token: ALICE, args: apollo };
    const requestState = String((await sendRound(call)).result?.["requestState"]);
    await stage.service.decide(requestState, "accept");
    const round = inputResponses === undefined ? {} : { inputResponses };
    const { result } = await sendRound({ ...call, requestState, ...round });
    expect(result?.content?.[0]?.text).toBe("Deleted Apollo (p_42).");
    expect(stage.runs()).toBe(1);
  });

  it("S15: an answer of another form is never a yes: while nobody has decided, the round waits and runs nothing", async () => {
    const stage = await setStage({ pollSeconds: 1 });
    const call = { url: stage.crm.url, token: ALICE, args: apollo };
    const requestState = String((await sendRound(call)).result?.["requestState"]);
    const forms: unknown[] = [
      answered("approve"),
      answered(true),
      { approval: {} },
      { approval: "accept" },
      ["accept"],
    ];
    const rounds = forms.map((form) => ({ ...call, requestState, inputResponses: form as Record<string, unknown> }));
    for (const { result } of await Promise.all(rounds.map(sendRound)))
      expect(result).toMatchObject({ resultType: "input_required", requestState });
    expect(stage.service.count("consume")).toBe(0);
    expect(stage.service.approvals.get(requestState)?.status).toBe("pending");
    expect(stage.runs()).toBe(0);
  });
});

describe("what a client says of itself", () => {
  it("S34: its name is passed on as reported and changes nothing; another name answers the same approval", async () => {
    const stage = await setStage();
    const call = { url: stage.crm.url, token: ALICE, args: apollo };
    const named = (name: string) => ({ "io.modelcontextprotocol/clientInfo": { name, version: "1" } });
    const first = await sendRound({ ...call, meta: named("Countersign") });
    const requestState = String(first.result?.["requestState"]);
    expect(stage.service.seen[0]?.body["mcpClient"]).toEqual({ name: "Countersign", version: "1" });
    expect(stage.service.approvals.get(requestState)?.caller.clientId).toBe("chat-app");
    await stage.service.decide(requestState, "accept");
    const { result } = await sendRound({ ...call, requestState, meta: named("another") });
    expect(result?.content?.[0]?.text).toBe("Deleted Apollo (p_42).");
  });

  it("S1: what it declares counts for one request of 2026-07-28: the next one without links gets none", async () => {
    const stage = await setStage({ maxApprovalsPerWorkflow: 10 });
    const call = { url: stage.crm.url, token: ALICE, args: apollo };
    const kinds = [];
    for (const capabilities of [{ elicitation: BOTH_MODES }, { elicitation: {} }, {}, { elicitation: { url: {} } }]) {
      const { result } = await sendRound({ ...call, capabilities });
      kinds.push(result?.["resultType"] === "input_required" ? "link" : result?._meta?.["countersign/ending"]);
    }
    expect(kinds).toEqual(["link", "ask_in_inbox", "ask_in_inbox", "link"]);
    expect(stage.runs()).toBe(0);
  });

  it("S2: a refusal with -32021 inside a stream that has begun keeps its code and data, with status 200", async () => {
    const { service, call } = await setSmallStage(() => ({ content: [] }), { strict: true, responseMode: "sse" });
    const { status, error } = await sendRound({ ...call, capabilities: {} });
    expect({ status, ...error }).toMatchObject({
      status: 200,
      code: -32021,
      data: { requiredCapabilities: { elicitation: { url: {} } } },
    });
    expect(service.seen).toEqual([]);
  });

  it("S33: what one session was told and asked is not taken for another's: each call stands alone", async () => {
    const stage = await setStage();
    const legacy = await stage.connect("legacy", { onPrompt: () => "cancel" });
    await legacy.call("delete_project", apollo);
    const [approval] = stage.service.approvals.values();
    await stage.service.decide(approval?.id ?? "", "accept");
    const other = await clientKinds.modern({ url: stage.crm.url, token: ALICE, elicitation: BOTH_MODES });
    onTestFinished(other.close);
    await other.call("list_projects", {});
    expect(stage.runs()).toBe(0);
    await other.call("delete_project", apollo);
    expect(other.prompts).toEqual([]);
    expect(stage.runs()).toBe(1);
  });
});
