import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { ApprovalPage, Choice, Setting } from "../support/setting";
import { createApprover } from "./approver";
import { startFakeModel } from "./fake-model";
import { runTurn } from "./loop";
import { responsesApi } from "./responses";

/** A model API that asks for approval gets the person's answer: yes once, after they accepted; no after anything else. */
export async function check(setting: Setting): Promise<void> {
  assert.deepEqual(await turn(setting, "accept"), { approve: true, reason: undefined });
  const note = "not on a Friday";
  const declined = `The user did not approve this (declined). Their words: "${note}"`;
  assert.deepEqual(await turn(setting, "decline", note), { approve: false, reason: declined });
  const cancelled = "The user did not approve this (cancelled).";
  assert.deepEqual(await turn(setting, "cancel"), { approve: false, reason: cancelled });
}

/** One turn with the model, and what it was answered. */
export async function turn(setting: Setting, choice: Choice, note?: string) {
  const release = `r-${randomBytes(4).toString("hex")}`;
  const fake = await startFakeModel("deploy_release", { release, regions: ["eu", "us"] });
  let deciding = Promise.resolve();
  const approver = await createApprover({
    ...setting,
    caller: { ...setting.caller, clientId: "my-chat" },
    describe: ({ name, server_label }) => ({
      title: `Let the model call ${name} of ${server_label}`,
      destination: "production",
      irreversible: true,
    }),
    onLink: (page: ApprovalPage) => {
      assert.deepEqual([fake.answers, fake.ran], [[], []], "the model hears nothing before the decision");
      deciding = setting.person(page, choice, note);
    },
  });
  try {
    const send = responsesApi({ url: fake.url, apiKey: "the-key-of-your-model-api" });
    const server = { server_label: "deployer", server_url: "https://mcp.example.com/mcp" };
    const response = await runTurn({ send, approver, model: "a-model", server }, `Deploy ${release}`);
    await deciding;
    const [answer] = fake.answers;
    assert.equal(fake.ran.length, answer?.approve ? 1 : 0, "a yes runs once, a no never");
    assert.equal(response.text, answer?.approve ? "It is done." : "It was not done.");
    return answer;
  } finally {
    await fake.close();
  }
}
