import { describe, expect, it } from "vitest";
import { apollo, endingOf, setStage, textOf } from "./crm";
import { sendRound } from "./raw-round";
import { setSmallStage } from "./small-server";

const kinds = ["modern", "legacy", "v1"] as const;
const without = [
  ["forms only", { form: {} }],
  ["an empty elicitation, which means forms", {}],
  ["no elicitation", undefined],
] as const;

describe.each(kinds)("a guarded tool, called by the %s client without links", (kind) => {
  it.each(without)("S1, S26: with %s gets no prompt and no link: the text names the inbox", async (_, elicitation) => {
    const stage = await setStage();
    const client = await stage.connect(kind, { elicitation });
    const result = await client.call("delete_project", apollo);
    expect(endingOf(result)).toBe("ask_in_inbox");
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain('"delete_project" did not run.');
    expect(textOf(result)).toContain(`Approvals inbox: ${new URL(stage.service.url).host}`);
    expect(client.prompts).toEqual([]);
    expect(client.wire.received.join("")).not.toMatch(/https?:\/\/[^"]*\/a\/|elicitation\/create|-32042/);
    expect(stage.runs()).toBe(0);
  });

  it.each(without)(
    "I5: with %s the same call made again finds the approval, waits for it, and runs once",
    async (_, elicitation) => {
      const stage = await setStage();
      const client = await stage.connect(kind, { elicitation });
      await client.call("delete_project", apollo);
      const [approval] = stage.service.approvals.values();
      expect(endingOf(await client.call("delete_project", apollo))).toBe("ask_in_inbox");
      await stage.service.decide(approval?.id ?? "", "accept");
      expect(textOf(await client.call("delete_project", apollo))).toBe("Deleted Apollo (p_42).");
      expect(stage.service.approvals.size).toBe(1);
      expect(stage.runs()).toBe(1);
    },
  );

  it("asks for more time and for no confirmation code, which no prompt would show", async () => {
    const stage = await setStage({ requirements: { maxAuthAgeSeconds: 60 }, ttlSeconds: 30, actBySeconds: 30 });
    const client = await stage.connect(kind, { elicitation: undefined });
    await client.call("delete_project", apollo);
    expect(stage.service.seen[0]?.body).toMatchObject({
      requirements: { maxAuthAgeSeconds: 60, matchCode: false },
      ttlSeconds: 3600,
      actBySeconds: 3600,
    });
  });

  it("gives the link only where the author has asked for it", async () => {
    const stage = await setStage({ inbox: { link: true, name: "Acme approvals" } });
    const client = await stage.connect(kind, { elicitation: undefined });
    const text = textOf(await client.call("delete_project", apollo));
    const [approval] = stage.service.approvals.values();
    expect(text).toContain("Approvals inbox: Acme approvals");
    expect(text).toContain(`Link for the user: ${stage.service.url}/a/${approval?.id}`);
  });

  it("says so in the operator's language", async () => {
    const stage = await setStage({ locale: "ja" });
    const client = await stage.connect(kind, { elicitation: undefined });
    const text = textOf(await client.call("delete_project", apollo));
    expect(text).toContain("「delete_project」は実行されませんでした。");
    expect(text).toContain("承認の受信箱：");
  });
});

describe("a strict tool", () => {
  it("S2: refuses a client of 2026-07-28 without links with -32021, and nobody is asked", async () => {
    const { service, call } = await setSmallStage(() => ({ content: [] }), { strict: true, responseMode: "auto" });
    for (const capabilities of [{}, { elicitation: {} }, { elicitation: { form: {} } }]) {
      const { status, error } = await sendRound({ ...call, capabilities });
      expect({ status, code: error?.code, data: error?.data }).toMatchObject({
        status: 400,
        code: -32021,
        data: { requiredCapabilities: { elicitation: { url: {} } } },
      });
    }
    expect(service.seen).toEqual([]);
  });
});
