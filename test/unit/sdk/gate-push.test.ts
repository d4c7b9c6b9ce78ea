import { describe, expect, it } from "vitest";
import { apollo, BOB, endingOf, setStage, textOf } from "./crm";

describe.each(["legacy", "v1"] as const)("sessions of revision 2025-11-25, with the %s client", (kind) => {
  it("S5: the completion notification reaches the session that was asked and no other", async () => {
    const stage = await setStage();
    const asked = await stage.connect(kind);
    const sameUser = await stage.connect(kind);
    const otherUser = await stage.connect(kind, { token: BOB });
    const minted = stage.service.nextMint();
    const result = asked.call("delete_project", apollo);
    const id = await minted;
    await stage.service.nextParked(id);
    await stage.service.decide(id, "accept");
    await result;
    await Promise.all([sameUser.call("list_projects", {}), otherUser.call("list_projects", {})]);
    expect(asked.completed).toEqual([asked.prompts[0]?.elicitationId]);
    expect(asked.completed[0]).not.toBe(id);
    expect(sameUser.completed).toEqual([]);
    expect(otherUser.completed).toEqual([]);
  });

  it("S4: each prompt has an elicitation id of its own, also for one approval", async () => {
    const stage = await setStage();
    const client = await stage.connect(kind, { onPrompt: () => "cancel" });
    await client.call("delete_project", apollo);
    await client.call("delete_project", apollo);
    expect(stage.service.approvals.size).toBe(1);
    expect(new Set(client.prompts.map((prompt) => prompt.elicitationId)).size).toBe(2);
  });

  it("an end without a decision sends no completion", async () => {
    const stage = await setStage();
    const client = await stage.connect(kind, {
      onPrompt: async ({ url }) => {
        await stage.service.end(url.split("/a/")[1] ?? "", "expired");
        return "accept" as const;
      },
    });
    expect(endingOf(await client.call("delete_project", apollo))).toBe("expired");
    expect(client.completed).toEqual([]);
  });

  it("a decision on the page counts while the prompt is still unanswered, and takes the prompt back", async () => {
    const stage = await setStage();
    const client = await stage.connect(kind, { onPrompt: () => new Promise(() => {}) });
    const minted = stage.service.nextMint();
    const result = client.call("delete_project", apollo);
    const id = await minted;
    await stage.service.nextParked(id);
    await stage.service.decide(id, "accept");
    expect(textOf(await result)).toBe("Deleted Apollo (p_42).");
    expect(client.completed).toHaveLength(1);
    expect(client.wire.received.join("")).toContain("notifications/cancelled");
  });

  it("a client that cannot be prompted ends the call, and the request is withdrawn", async () => {
    const stage = await setStage();
    const client = await stage.connect(kind, {
      onPrompt: () => {
        throw new Error("no browser");
      },
    });
    const result = await client.call("delete_project", apollo);
    expect(endingOf(result)).toBe("elicitation_failed");
    expect([...stage.service.approvals.values()]).toMatchObject([{ status: "withdrawn", reason: "aborted" }]);
    expect(stage.runs()).toBe(0);
  });

  it("S35: after the client cancelled the call, an approval runs nothing and consumes nothing", async () => {
    const stage = await setStage();
    const client = await stage.connect(kind);
    const stop = new AbortController();
    const minted = stage.service.nextMint();
    const result = client.call("delete_project", apollo, { signal: stop.signal });
    const id = await minted;
    await stage.service.nextParked(id);
    const ended = stage.nextEvent("not_run");
    stop.abort();
    await expect(result).rejects.toThrow();
    expect(await ended).toMatchObject({ ending: "interrupted", approvalId: id });
    await stage.service.decide(id, "accept");
    expect(stage.service.count("consume")).toBe(0);
    expect(stage.runs()).toBe(0);
  });
});
