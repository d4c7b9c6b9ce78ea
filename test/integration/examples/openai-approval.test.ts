import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { check, turn } from "@/examples/openai-approval/check";
import { drawn, type ExampleStage, ends, startExampleStage } from "./stage";

let stage: ExampleStage;

beforeAll(async () => {
  stage = await startExampleStage();
});
afterAll(() => stage?.stop());

describe("the example of a model API that asks for approval", () => {
  it("answers it after the person's decision: yes once, with the right to run taken; no with the person's words (I1, I5)", async () => {
    await check(stage.setting);
    expect(await stage.endsOf("deploy_release")).toEqual([ends.ranOnce, ends.declined, ends.cancelled]);
    const shown = stage.decisions[0]?.view.arguments.map((argument) => drawn(argument.value));
    expect(shown).toEqual(["eu", "us", expect.stringMatching(/^r-/)]);
  });

  it("I13: an accept whose receipt is for another client is answered with no, and nothing is consumed", async () => {
    const answer = await turn({ ...stage.setting, clientId: "cli_another" }, "accept");
    expect(answer).toEqual({ approve: false, reason: "The approval could not be verified." });
    expect((await stage.endsOf("deploy_release")).at(-1)).toEqual(ends.neverRan);
  });

  it("I13: a service that refuses to ask is a no, and the turn goes on", async () => {
    const apiKey = `${stage.setting.apiKey.slice(0, -4)}AAAA`;
    const asked = (await stage.endsOf("deploy_release")).length;
    const answer = await turn({ ...stage.setting, apiKey }, "accept");
    expect(answer).toEqual({ approve: false, reason: "No approval could be had for this. Nothing was run." });
    expect(await stage.endsOf("deploy_release")).toHaveLength(asked);
  });
});
