import { describe, expect, it } from "vitest";
import { ALICE, apollo, setStage } from "./crm";
import { askRound as ask, sendRound } from "./raw-round";

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
});
