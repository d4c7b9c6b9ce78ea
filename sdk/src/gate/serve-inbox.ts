import { ask, type Minted } from "./ask";
import { NotRun } from "./endings";
import { conclude } from "./fence";
import type { GuardedCall } from "./guarded-call";
import type { Served } from "./mcp-call";
import { standing } from "./serve-round";
import type { ToolResult } from "./spec";

/**
 * Serves a call whose MCP client cannot open a link: the approval waits in the person's inbox, the agent is told so, and the same call made
 * again finds it (`reuse`) and runs it once it was accepted. There is more time, for the person has to go there on their own, and
 * no confirmation code unless the policy demands one, for no prompt would show it.
 * @throws NotRun for every ending without a run, `ask_in_inbox` while it waits
 */
export async function serveInbox(call: GuardedCall): Promise<Served<ToolResult>> {
  const minted = await askInInbox(call);
  if (minted.next === "wait")
    throw new NotRun("ask_in_inbox", { approvalId: minted.id, inbox: whereToFind(call, minted) });
  return { kind: "result", result: await conclude(call, await standing(call, minted.id), minted) };
}

/** Asks for an approval that no prompt leads to. @throws as `ask` does */
export async function askInInbox(call: GuardedCall): Promise<Minted> {
  const { inbox } = call.parts.settings;
  return await ask(call, {
    requirements: { ...call.terms.requirements, matchCode: false },
    ttlSeconds: inbox.ttlSeconds,
    actBySeconds: inbox.actBySeconds,
  });
}

/** By default a name and no link: a link in a tool's text goes through the model. */
export function whereToFind(call: GuardedCall, { url, matchCode }: Minted) {
  const { inbox } = call.parts.settings;
  return {
    name: inbox.name ?? new URL(url).host,
    ...(inbox.link === true ? { link: url } : {}),
    ...(matchCode === undefined ? {} : { matchCode }),
  };
}
