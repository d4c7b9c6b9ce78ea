import assert from "node:assert/strict";
import { ERAS } from "../support/agent";
import { onStage } from "../support/on-stage";
import type { Setting } from "../support/setting";
import { createBlog, openPost } from "./server";

/** An MCP client that can open no link: its user is told where to decide, and the same call made again runs once. */
export async function check(setting: Setting): Promise<void> {
  for (const era of ERAS) {
    const post = openPost();
    await onStage(
      setting,
      (gate) => createBlog(gate, post),
      async ({ connect }) => {
        const agent = await connect(era);
        const publish = () => agent.call("publish_post", { post_id: post.id });

        const first = await publish();
        assert.equal(first.isError, true);
        assert.equal(first.ending, "ask_in_inbox");
        assert(first.approvalId !== undefined);
        assert.ok(first.text.includes(`Approvals inbox: ${new URL(setting.url).host}`), "the text names the inbox");
        assert.ok(!first.text.includes(`/a/`), "and holds no link: it goes through the model");

        const impatient = await publish();
        assert.equal(impatient.ending, "ask_in_inbox");
        assert.equal(impatient.approvalId, first.approvalId, "asking again makes no second request");
        assert.deepEqual(post.publishedBy, [], "nothing runs before the decision");

        await setting.person({ approvalId: first.approvalId }, "accept");
        assert.deepEqual(post.publishedBy, [], "nor by the decision alone: it runs when it is called");

        const retry = await publish();
        assert.equal(retry.text, `Published “${post.headline}”.`);
        assert.deepEqual(post.publishedBy, [first.approvalId]);
      },
    );
  }
}
