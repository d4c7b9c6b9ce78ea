import { randomUUID } from "node:crypto";
import type { StatusAnswer } from "../api-types";
import { ask, type Minted, withdraw } from "./ask";
import { NotRun } from "./endings";
import { conclude } from "./fence";
import type { GuardedCall } from "./guarded-call";
import type { ClientAnswer, McpCall, Served } from "./mcp-call";
import { standing } from "./serve-round";
import type { ToolResult } from "./spec";
import { waitForDecision } from "./wait";

export type Push = McpCall & { era: "push" };

/**
 * Serves a call under revision 2025-11-25: the server asks the MCP client to open the page while the call stays open, and waits for
 * Countersign at the same time, since some MCP clients answer when the page is opened and some when it is done.
 * @throws NotRun for every ending without a run
 */
export async function servePush(call: GuardedCall, push: Push): Promise<Served<ToolResult>> {
  const minted = await ask(call);
  const answer = minted.next === "wait" ? await prompted(call, push, minted) : await standing(call, minted.id);
  return { kind: "result", result: await conclude(call, answer, minted) };
}

async function prompted(call: GuardedCall, push: Push, minted: Minted): Promise<StatusAnswer> {
  // Unique for each prompt, and not the approval's id: a live approval may be prompted for in two sessions (S4, S5).
  const elicitationId = randomUUID();
  const over = new AbortController();
  const signal = AbortSignal.any([push.signal, over.signal]);
  const decided = waitForDecision(call, minted.id, { signal });
  const opened = prompt(call, push, { minted, elicitationId, signal });
  try {
    const answer = await Promise.race([decided, opened.then(() => decided)]);
    if (answer.decision !== undefined && !push.signal.aborted) await tellComplete(call, push, minted.id, elicitationId);
    return answer;
  } finally {
    // Ends the wait, and takes back a prompt that was not answered.
    over.abort(new Error("The request is over."));
  }
}

type Prompting = { minted: Minted; elicitationId: string; signal: AbortSignal };

async function prompt(call: GuardedCall, push: Push, { minted, elicitationId, signal }: Prompting): Promise<void> {
  const { id, elicitation } = minted;
  const { message, url } = elicitation;
  let answer: ClientAnswer;
  try {
    answer = await push.prompt({ mode: "url", message, url }, { elicitationId, signal });
  } catch {
    if (signal.aborted) throw new NotRun("interrupted", { approvalId: id });
    await withdraw(call, id, "aborted");
    throw new NotRun("elicitation_failed", { approvalId: id });
  }
  // `accept` only says that the page was opened; to stop at the other two is always safe.
  if (answer.action === "cancel") throw new NotRun("client_cancelled", { approvalId: id, isOwn: true });
  if (answer.action === "decline") {
    await withdraw(call, id, "client_declined");
    throw new NotRun("client_declined", { approvalId: id, isOwn: true });
  }
}

/** Sent with the request it belongs to, so it reaches the session that was asked and no other (S5). */
async function tellComplete(call: GuardedCall, push: Push, approvalId: string, elicitationId: string): Promise<void> {
  try {
    await push.complete(elicitationId);
  } catch {
    call.parts.emit({ type: "call_failed", tool: call.action.tool, approvalId, call: "notify", code: "internal" });
  }
}
