import assert from "node:assert/strict";
import { type Agent, ERAS } from "../support/agent";
import { onStage } from "../support/on-stage";
import type { ApprovalPage, Setting } from "../support/setting";
import { createConfigServer } from "./server";
import { openSettings } from "./settings";

/** A person approves a concrete diff: that is applied, once, or nothing is, when the state is not any more what the diff was about. */
export async function check(setting: Setting): Promise<void> {
  for (const era of ERAS) {
    const settings = openSettings();
    let meanwhile = () => {};
    const onLink = async (page: ApprovalPage) => {
      meanwhile();
      await setting.person(page, "accept");
    };
    await onStage(
      setting,
      (gate) => createConfigServer(gate, settings),
      async ({ connect }) => {
        const agent = await connect(era, { onLink });
        const before = settings.all();
        const first = await planOf(agent, { replicas: "5", log_level: "info", owner: "team-a" });
        assert.deepEqual(settings.all(), before, "a plan changes nothing");
        const applied = await agent.call("apply", { plan_id: first });
        assert.equal(applied.text, `Applied ${first}.`);
        assert.deepEqual(settings.all(), { ...before, replicas: "5", owner: "team-a" });

        const again = await agent.call("apply", { plan_id: first });
        assert.equal(again.ending, "check_mismatch", "a plan that is out of date is not even asked for");

        const second = await planOf(agent, { replicas: "0" });
        // Somebody else changes the settings while the page is open.
        meanwhile = () => settings.apply(settings.plan({ region: "us-east" }));
        const stale = await agent.call("apply", { plan_id: second });
        assert.equal(stale.isError, true);
        assert.equal(stale.ending, "stale", "approved, and yet not run: it is not what they saw");
        assert.equal(settings.all()["replicas"], "5");
        assert.equal(settings.applied.filter((id) => id === first).length, 1);
        assert.ok(!settings.applied.includes(second));
      },
    );
  }
}

async function planOf(agent: Agent, wanted: Record<string, string>): Promise<string> {
  const { data } = await agent.call("plan", { wanted });
  return String(data["plan_id"]);
}
