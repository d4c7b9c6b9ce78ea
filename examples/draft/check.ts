import assert from "node:assert/strict";
import { type Agent, type AgentOptions, ERAS, type Era } from "../support/agent";
import { onStage } from "../support/on-stage";
import type { ApprovalPage, Choice, Setting } from "../support/setting";
import { type Drafts, openDrafts } from "./drafts";
import { createMailServer } from "./server";

const WISH = "shorter, and no discount";
const mail = { to: "ines@example.com", about: "her order is late" };

/** A mail that the client's model writes: nothing is sent but what a person read whole and accepted. */
export async function check(setting: Setting): Promise<void> {
  for (const era of ERAS) {
    await regenerated(setting, era);
    await resumed(setting, era);
  }
}

/** Declined with a note, written again with that note, accepted: the second wording is sent, once. */
async function regenerated(setting: Setting, era: Era): Promise<void> {
  const drafts = openDrafts();
  const choices: [Choice, string?][] = [["decline", WISH], ["accept"]];
  const prompts: string[] = [];
  const wordings = ["Dear Ines, we are sorry.\nHere is a discount of 20 %.", "Dear Ines, we are sorry."];
  const onSample = (prompt: string) => wordings[prompts.push(prompt) - 1] ?? "";
  await withAgent(setting, { drafts, era, onSample, choices }, async (agent) => {
    const first = await written(agent, "write_draft", mail);
    const declined = await agent.call("send_draft", first);
    assert.equal(declined.ending, "declined");
    assert.ok(declined.text.includes(`“${WISH}”`), "the agent is told the person's words, as theirs");
    assert.deepEqual(drafts.sent, []);

    const second = await written(agent, "rewrite_draft", { draft_id: first.draft_id });
    assert.equal(prompts.length, 2);
    assert.ok(!prompts[0]?.includes(WISH) && prompts[1]?.includes(`said: ${JSON.stringify(WISH)}`));
    assert.deepEqual(second, { ...first, revision: first.revision + 1 });
    const old = await agent.call("send_draft", first);
    assert.equal(old.ending, "presentation_failed", "the wording that was declined cannot be asked for again");

    const sent = await agent.call("send_draft", second);
    assert.equal(sent.text, `Sent to ${mail.to}.`);
    assert.deepEqual(drafts.sent, [{ to: mail.to, body: wordings[1], approvalId: sent.approvalId }]);
  });
}

/** Closed without deciding: the draft is kept, and another conversation goes on with it by its id. */
async function resumed(setting: Setting, era: Era): Promise<void> {
  const drafts = openDrafts();
  const onSample = () => "Dear Ines, we are sorry.";
  let draft: Wording = { draft_id: "", revision: 0 };
  await withAgent(setting, { drafts, era, onSample, choices: [["cancel"]] }, async (agent) => {
    draft = await written(agent, "write_draft", mail);
    const cancelled = await agent.call("send_draft", draft);
    assert.equal(cancelled.ending, "cancelled");
    assert.ok(cancelled.text.includes(draft.draft_id), "the agent is told how to go on");
    assert.deepEqual(drafts.saved(), [draft.draft_id]);
    assert.deepEqual(drafts.sent, []);
  });
  await withAgent(setting, { drafts, era, choices: [["accept"]] }, async (agent) => {
    assert.equal((await agent.call("send_draft", draft)).text, `Sent to ${mail.to}.`);
    assert.equal(drafts.sent.length, 1);
    assert.deepEqual(drafts.saved(), []);
  });
}

type Wording = { draft_id: string; revision: number };
type Play = { drafts: Drafts; era: Era; choices: [Choice, string?][] } & Pick<AgentOptions, "onSample">;

/** One conversation, in which the person makes these choices one after the other. */
async function withAgent(setting: Setting, play: Play, use: (agent: Agent) => Promise<void>): Promise<void> {
  const { drafts, era, choices, ...options } = play;
  const left = [...choices];
  const onLink = async (page: ApprovalPage) => {
    const [choice, note] = left.shift() ?? assert.fail("the person was asked once too often");
    await setting.person(page, choice, note);
  };
  await onStage(
    setting,
    (gate) => createMailServer(gate, drafts),
    async ({ connect }) => await use(await connect(era, { ...options, onLink })),
  );
  assert.deepEqual(left, [], "the person was asked each time");
}

async function written(agent: Agent, tool: string, args: Record<string, string>): Promise<Wording> {
  const { data, text } = await agent.call(tool, args);
  assert.equal(typeof data["draft_id"], "string", text);
  return { draft_id: String(data["draft_id"]), revision: Number(data["revision"]) };
}
