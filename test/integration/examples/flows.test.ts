import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { check as checkDraft } from "@/examples/draft/check";
import { check as checkPlanApply } from "@/examples/plan-apply/check";
import { drawn, type ExampleStage, ends, startExampleStage } from "./stage";

let stage: ExampleStage;

beforeAll(async () => {
  stage = await startExampleStage();
});
afterAll(() => stage?.stop());

describe("the examples of longer work", () => {
  it("plan-apply: the page shows the concrete diff; it is applied once, or not at all once the state has changed (I3)", async () => {
    await checkPlanApply(stage.setting);
    const { ranOnce, neverRan } = ends;
    expect(await stage.endsOf("apply")).toEqual([ranOnce, neverRan, ranOnce, neverRan]);
    const { details = [], checks = [] } = stage.decisions[0]?.view ?? {};
    expect(details.map(({ label, value, risk }) => [drawn(label), drawn(value), risk])).toEqual([
      ["replicas", "2 → 5", true],
      ["owner", "(not set) → team-a", true],
    ]);
    expect(checks.map(({ label, value }) => [drawn(label), drawn(value)])).toEqual([["Version of the settings", "1"]]);
  });

  it("draft: a person reads the model's words whole; they are sent once, rewritten as the person says, or kept (I1, I3)", async () => {
    await checkDraft(stage.setting);
    const each = [ends.declined, ends.ranOnce, ends.cancelled, ends.ranOnce];
    expect(await stage.endsOf("send_draft")).toEqual([...each, ...each]);
    const notes = stage.decisions.map(({ view }) => drawn(view.modelNote)).filter((note) => note !== "");
    expect(notes.slice(0, 2)).toEqual([
      "Dear Ines, we are sorry.\nHere is a discount of 20 %.",
      "Dear Ines, we are sorry.",
    ]);
  });
});
