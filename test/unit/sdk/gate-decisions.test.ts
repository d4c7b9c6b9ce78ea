import { describe, expect, it } from "vitest";
import { apollo, endingOf, setStage, textOf } from "./crm";

const kinds = ["modern", "legacy", "v1"] as const;

describe.each(kinds)("a guarded tool, called by the %s client", (kind) => {
  it("I13: runs nothing before the person has decided", async () => {
    const stage = await setStage();
    const client = await stage.connect(kind);
    const minted = stage.service.nextMint();
    const result = client.call("delete_project", apollo);
    const id = await minted;
    await stage.service.nextParked(id);
    expect(stage.runs()).toBe(0);
    expect(client.prompts).toMatchObject([{ url: `${stage.service.url}/a/${id}` }]);
    await stage.service.decide(id, "accept");
    await result;
  });

  it("I5: runs once, with exactly the approved arguments, after the person accepted", async () => {
    const stage = await setStage();
    const client = await stage.connect(kind, {
      onPrompt: async ({ url }) => {
        await stage.service.decide(url.split("/a/")[1] ?? "", "accept");
        return "accept" as const;
      },
    });
    const result = await client.call("delete_project", apollo);
    expect(textOf(result)).toBe("Deleted Apollo (p_42).");
    expect(result.isError ?? false).toBe(false);
    expect(stage.runs()).toBe(1);
    const [approval] = stage.service.approvals.values();
    expect(approval).toMatchObject({ action: { tool: "delete_project", arguments: apollo }, outcome: "succeeded" });
  });

  it.each([
    ["decline", "declined", "Do not try it again"],
    ["cancel", "cancelled", "neither yes nor no"],
  ] as const)("runs nothing after the person's %s and says what it was", async (decision, ending, words) => {
    const stage = await setStage();
    const client = await stage.connect(kind, {
      onPrompt: async ({ url }) => {
        await stage.service.decide(url.split("/a/")[1] ?? "", decision, { note: "not\u202e today\u0007" });
        return "accept" as const;
      },
    });
    const result = await client.call("delete_project", apollo);
    expect(result.isError).toBe(true);
    expect(endingOf(result)).toBe(ending);
    expect(textOf(result)).toContain('"delete_project" did not run.');
    expect(textOf(result)).toContain(words);
    expect(textOf(result)).toContain("“not today”");
    expect(stage.runs()).toBe(0);
    expect(stage.service.count("consume")).toBe(0);
  });

  it.each([
    ["expired", undefined, "expired"],
    ["withdrawn", "frozen", "withdrawn_frozen"],
    ["withdrawn", "key_revoked", "withdrawn_key_revoked"],
    ["withdrawn", "match_failed", "withdrawn_match_failed"],
    ["withdrawn", "taken_back", "withdrawn_taken_back"],
  ] as const)("I6: runs nothing when the request is %s (%s)", async (status, reason, ending) => {
    const stage = await setStage();
    const client = await stage.connect(kind, {
      onPrompt: async ({ url }) => {
        await stage.service.end(url.split("/a/")[1] ?? "", status, reason);
        return "accept" as const;
      },
    });
    const result = await client.call("delete_project", apollo);
    expect(endingOf(result)).toBe(ending);
    expect(result.isError).toBe(true);
    expect(stage.runs()).toBe(0);
  });

  it("I1: an accept by the MCP client alone decides nothing", async () => {
    const stage = await setStage();
    const client = await stage.connect(kind);
    const minted = stage.service.nextMint();
    const stop = new AbortController();
    const result = client.call("delete_project", apollo, { signal: stop.signal });
    const id = await minted;
    await stage.service.nextParked(id);
    expect(client.prompts).toHaveLength(1);
    expect(stage.runs()).toBe(0);
    expect(stage.service.count("consume")).toBe(0);
    stop.abort();
    await expect(result).rejects.toThrow();
  });

  it("a decline by the MCP client withdraws the request, under another name than the person's", async () => {
    const stage = await setStage();
    const client = await stage.connect(kind, { onPrompt: () => "decline" });
    const result = await client.call("delete_project", apollo);
    expect(endingOf(result)).toBe("client_declined");
    expect([...stage.service.approvals.values()]).toMatchObject([{ status: "withdrawn", reason: "client_declined" }]);
    expect(stage.runs()).toBe(0);
  });

  it("a cancel by the MCP client ends the call and leaves the request open; the next call goes on from there", async () => {
    const stage = await setStage();
    const answers = ["cancel" as const];
    const client = await stage.connect(kind, { onPrompt: () => answers.pop() ?? "accept" });
    const first = await client.call("delete_project", apollo);
    expect(endingOf(first)).toBe("client_cancelled");
    const [approval] = stage.service.approvals.values();
    expect(approval?.status).toBe("pending");
    await stage.service.decide(approval?.id ?? "", "accept");
    const second = await client.call("delete_project", apollo);
    expect(textOf(second)).toBe("Deleted Apollo (p_42).");
    expect(stage.service.approvals.size).toBe(1);
    expect(stage.runs()).toBe(1);
  });
});

// A client of the modern era holds no call open meanwhile.
describe.each(["legacy", "v1"] as const)("a guarded tool that waits, called by the %s client", (kind) => {
  it("I14: asks again and again where the service parks no more of its waits, and runs once the person has accepted", async () => {
    const stage = await setStage();
    const client = await stage.connect(kind, { onPrompt: () => Promise.resolve("accept" as const) });
    for (let i = 0; i < 2; i += 1)
      stage.service.plan("status", { kind: "refuse", problem: { status: 429, code: "too_many_waits" }, retryAfter: 1 });
    const minted = stage.service.nextMint();
    const result = client.call("delete_project", apollo);
    const id = await minted;
    await stage.service.nextParked(id);
    await stage.service.decide(id, "accept");
    expect(textOf(await result)).toBe("Deleted Apollo (p_42).");
    expect(stage.runs()).toBe(1);
  });
});
