import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { check as checkFormGate } from "@/examples/form-gate/check";
import { check as checkInbox } from "@/examples/inbox-fallback/check";
import { check as checkUrlFlow } from "@/examples/url-flow/check";
import { drawn, type ExampleStage, startExampleStage } from "./stage";

let stage: ExampleStage;

beforeAll(async () => {
  stage = await startExampleStage();
});
afterAll(() => stage?.stop());

/** What the approvals of one tool came to. */
const endsOf = async (tool: string) =>
  (await stage.approvals())
    .filter((approval) => approval.tool === tool)
    .map(({ status, consumed, outcome }) => [status, consumed, outcome]);

describe("the examples of asking", () => {
  it("url-flow: in both eras a link leads to a decision; an accept runs once, a decline not at all (I1, I5)", async () => {
    await checkUrlFlow(stage.setting);
    const once = [
      ["accepted", true, "succeeded"],
      ["declined", false, null],
    ];
    expect(await endsOf("refund_order")).toEqual([...once, ...once]);
    expect(drawn(stage.decisions[0]?.view.title ?? null)).toBe("Refund 49.00 EUR to Ines Bauer");
  });

  it("inbox-fallback: in both eras a client without links asks once, and the call made again runs once (I5)", async () => {
    await checkInbox(stage.setting);
    const once = ["accepted", true, "succeeded"];
    expect(await endsOf("publish_post")).toEqual([once, once]);
  });

  it("form-gate: in both eras only the right choice in the client's form runs it, and Countersign is not asked", async () => {
    await checkFormGate(stage.setting);
    expect(await endsOf("archive_ticket")).toEqual([]);
  });
});
