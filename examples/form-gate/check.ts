import assert from "node:assert/strict";
import { type AgentOptions, ERAS } from "../support/agent";
import { onStage } from "../support/on-stage";
import type { Setting } from "../support/setting";
import { createHelpdesk, openTicket } from "./server";

/**
 * A tool of tier 2 that asks in the MCP client's form. Countersign is not asked and no person is proved, which is why this is for what can
 * be undone. The forms are answered by the check: it is the MCP client.
 */
export async function check(setting: Omit<Setting, "person">): Promise<void> {
  for (const era of ERAS) {
    const ticket = openTicket();
    await onStage(
      { ...setting, person: async () => assert.fail("nobody is sent to a page") },
      (gate) => createHelpdesk(gate, ticket),
      async ({ connect }) => {
        const archive = async (options: AgentOptions) => {
          const agent = await connect(era, options);
          return await agent.call("archive_ticket", { ticket_id: ticket.id });
        };
        const asked: string[] = [];
        const choosing = (value: string | undefined) => (message: string) => {
          asked.push(message);
          return value;
        };

        assert.equal((await archive({ onForm: choosing("do_not_run") })).ending, "form_declined");
        assert.equal((await archive({ onForm: choosing(undefined) })).ending, "form_cancelled");
        assert.equal((await archive({ onForm: choosing("yes") })).isError, true, "no answer but the right one counts");
        assert.equal((await archive({})).ending, "form_required", "without forms it does not run");
        assert.deepEqual(ticket.archivedWith, []);

        const ran = await archive({ onForm: choosing("run") });
        assert.equal(ran.text, `Archived ${ticket.id}.`);
        const repeated = await archive({ onForm: choosing("run") });
        assert.ok(
          repeated.text.startsWith(`Archived ${ticket.id}.`),
          "an equal call a moment later has the same answer",
        );
        assert.equal(ticket.archivedWith.length, 1, "and does not run again");
        assert.deepEqual(new Set(asked), new Set([`Archive “${ticket.subject}”?`]));
      },
    );
  }
}
