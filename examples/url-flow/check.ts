import assert from "node:assert/strict";
import { ERAS, type Era } from "../support/agent";
import { onStage } from "../support/on-stage";
import type { ApprovalPage, Choice, Setting } from "../support/setting";
import { createShop, openOrders } from "./server";

/** A tool behind a link, in both eras: nothing runs before the decision, an accept runs once, a decline not at all. */
export async function check(setting: Setting): Promise<void> {
  for (const era of ERAS) {
    await decided(setting, era, "accept");
    await decided(setting, era, "decline");
  }
}

async function decided(setting: Setting, era: Era, choice: Choice): Promise<void> {
  const orders = openOrders();
  const [order] = orders.values();
  assert(order !== undefined);
  let asked = "";
  const onLink = async (page: ApprovalPage) => {
    asked = page.approvalId;
    assert.deepEqual(order.refunds, [], "the link alone runs nothing");
    await setting.person(page, choice);
  };
  await onStage(
    setting,
    (gate) => createShop(gate, orders),
    async ({ connect }) => {
      const agent = await connect(era, { onLink });
      const answer = await agent.call("refund_order", { order_id: order.id });
      assert.equal(answer.approvalId, asked);
      if (choice === "accept") {
        assert.equal(answer.text, `Refunded order ${order.id}.`);
        assert.deepEqual(order.refunds, [asked], "it ran once, under this approval");
      } else {
        assert.equal(answer.isError, true);
        assert.equal(answer.ending, "declined");
        assert.deepEqual(order.refunds, []);
      }
    },
  );
}
