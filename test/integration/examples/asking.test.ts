import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { check as checkFormGate } from "@/examples/form-gate/check";
import { check as checkInbox } from "@/examples/inbox-fallback/check";
import { check as checkUrlFlow } from "@/examples/url-flow/check";
import { drawn, type ExampleStage, ends, startExampleStage } from "./stage";

let stage: ExampleStage;

beforeAll(async () => {
  stage = await startExampleStage();
});
afterAll(() => stage?.stop());

describe("the examples of asking", () => {
  it("url-flow: in both eras a link leads to a decision; an accept runs once, a decline not at all (I1, I5)", async () => {
    await checkUrlFlow(stage.setting);
    const { ranOnce, declined } = ends;
    expect(await stage.endsOf("refund_order")).toEqual([ranOnce, declined, ranOnce, declined]);
    expect(drawn(stage.decisions[0]?.view.title ?? null)).toBe("Refund 49.00 EUR to Ines Bauer");
  });

  it("inbox-fallback: in both eras a client without links asks once, and the call made again runs once (I5)", async () => {
    await checkInbox(stage.setting);
    expect(await stage.endsOf("publish_post")).toEqual([ends.ranOnce, ends.ranOnce]);
  });

  it("form-gate: in both eras only the right choice in the client's form runs it, and Countersign is not asked", async () => {
    await checkFormGate(stage.setting);
    expect(await stage.endsOf("archive_ticket")).toEqual([]);
  });
});
