import type { StatusAnswer } from "../api-types";
import { actionDigest } from "../digest";
import { ask, withdraw } from "./ask";
import { NotRun, toNotRun } from "./endings";
import { conclude } from "./fence";
import type { GuardedCall } from "./guarded-call";
import type { McpCall, Served } from "./mcp-call";
import { readState } from "./request-state";
import type { ToolResult } from "./spec";
import { waitForDecision } from "./wait";

export type Round = McpCall & { era: "rounds" };

/** The name of the one input that is asked for. */
const INPUT = "approval";

/**
 * Serves one round of a call under revision 2026-07-28 (multi round-trip requests). The first round asks and returns the link; a
 * later one waits inside the handler, and asks the MCP client to come back when that takes too long for one request. What the MCP
 * client answers can end the wait but never decides (I1).
 * @throws NotRun for every ending without a run
 */
export async function serveRound(call: GuardedCall, round: Round): Promise<Served<ToolResult>> {
  if (round.state === undefined) return await firstRound(call);
  const { parts, caller } = call;
  const found = await readState(parts.api, round.state, caller);
  throwIfOfOther(call, found);
  if (found.next === "wait" || found.next === "run") await heedClientAnswer(call, round, found);
  const untilMs = performance.now() + parts.settings.pollSeconds * 1000;
  const { signal } = round;
  const answer = found.next === "wait" ? await waitForDecision(call, found.id, { signal, untilMs }) : found;
  if (answer.next !== "wait") return { kind: "result", result: await conclude(call, answer, found) };
  // An MCP client that gives up reports an error of its own, which tells the agent nothing.
  if (isPatienceSpent(call, answer)) throw new NotRun("still_pending", { approvalId: answer.id });
  return { kind: "again", state: found.id };
}

async function firstRound(call: GuardedCall): Promise<Served<ToolResult>> {
  const minted = await ask(call);
  if (minted.next === "wait") {
    const { message, url } = minted.elicitation;
    return { kind: "prompt", key: INPUT, prompt: { mode: "url", message, url }, state: minted.id };
  }
  // The user had accepted this very action already, in a call whose answer was lost.
  return { kind: "result", result: await conclude(call, await standing(call, minted.id), minted) };
}

/** How an approval stands that this very call did not have to ask for. */
export async function standing(call: GuardedCall, id: string): Promise<StatusAnswer> {
  return await call.parts.api.status(id, { signal: call.mcp.signal }).catch((error: unknown) => {
    throw toNotRun(error, id);
  });
}

/**
 * The state says which approval, and the round says what for: they must belong together before anything else is done, for the endings of an
 * approval are told to whoever asked for just that. `consume` compares once more, and counts.
 */
function throwIfOfOther({ action }: GuardedCall, { id, salt, actionDigest: asked }: StatusAnswer): void {
  if (salt === undefined || asked === undefined) return;
  if (actionDigest({ ...action, salt }) !== asked) throw new NotRun("action_mismatch", { approvalId: id });
}

/** Whether the MCP client's rounds are used up but for one, by the age of the approval: rounds themselves are not counted anywhere. */
function isPatienceSpent({ parts }: GuardedCall, { createdAt }: StatusAnswer): boolean {
  if (createdAt === undefined) return false;
  const { maxRounds, pollSeconds } = parts.settings;
  return Date.now() - Date.parse(createdAt) > (maxRounds - 2) * pollSeconds * 1000;
}

/** `accept` only says that the page was opened, and is forgeable; to stop at `decline` and `cancel` is always safe. */
async function heedClientAnswer(
  call: GuardedCall,
  round: Round,
  { id: approvalId, salt }: StatusAnswer,
): Promise<void> {
  const isOwn = salt !== undefined;
  const answer = round.answerTo(INPUT);
  if (answer?.action === "cancel") throw new NotRun("client_cancelled", { approvalId, isOwn });
  if (answer?.action !== "decline") return;
  await withdraw(call, approvalId, "client_declined");
  throw new NotRun("client_declined", { approvalId, isOwn });
}
