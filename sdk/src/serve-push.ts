import { randomUUID } from "node:crypto";
import type { CallToolResult, ElicitResult } from "@modelcontextprotocol/server";
import type { MintAnswer, StatusAnswer } from "./api-types";
import { ask, withdraw } from "./ask";
import { conclude } from "./conclude";
import { NotRun, toNotRun } from "./endings";
import { CountersignError } from "./errors";
import type { GuardedCall } from "./guarded-call";
import { waitForDecision } from "./wait";

/** The prompt lives until the decision or the expiry ends it, never by a timer of its own; an approval lives at most a day. */
const PROMPT_TIMEOUT_MS = 90_000_000;

/**
 * Serves a call under revision 2025-11-25: the server asks the MCP client to open the page while the call stays open, and waits for
 * Countersign at the same time, since some MCP clients answer when the page is opened and some when it is done.
 * @throws NotRun for every ending without a run
 */
export async function servePush(call: GuardedCall): Promise<CallToolResult> {
  const minted = await ask(call);
  const answer = minted.next === "wait" ? await prompted(call, minted) : await standing(call, minted.id);
  return await conclude(call, answer, minted);
}

async function prompted(call: GuardedCall, minted: MintAnswer): Promise<StatusAnswer> {
  // Unique for each prompt, and not the approval's id: a live approval may be prompted for in two sessions (S4, S5).
  const elicitationId = randomUUID();
  const over = new AbortController();
  const signal = AbortSignal.any([call.ctx.mcpReq.signal, over.signal]);
  const decided = waitForDecision(call, minted.id, { signal });
  const opened = prompt(call, minted, elicitationId, signal);
  try {
    const answer = await Promise.race([decided, opened.then(() => decided)]);
    if (answer.decision !== undefined) await tellComplete(call, minted.id, elicitationId);
    return answer;
  } finally {
    // Ends the wait, and takes back a prompt that was not answered.
    over.abort(new Error("The request is over."));
  }
}

async function prompt(
  call: GuardedCall,
  { id, elicitation: { message, url } }: MintAnswer,
  elicitationId: string,
  signal: AbortSignal,
): Promise<void> {
  const { mcpReq } = call.ctx;
  let response: ElicitResult;
  try {
    response = await mcpReq.elicitInput(
      { mode: "url", message, url, elicitationId },
      { relatedRequestId: mcpReq.id, timeout: PROMPT_TIMEOUT_MS, signal },
    );
  } catch {
    if (signal.aborted) throw new NotRun("interrupted", { approvalId: id });
    await withdraw(call, id, "aborted");
    throw new NotRun("elicitation_failed", { approvalId: id });
  }
  // `accept` only says that the page was opened; to stop at the other two is always safe.
  if (response.action === "cancel") throw new NotRun("client_cancelled", { approvalId: id });
  if (response.action === "decline") {
    await withdraw(call, id, "client_declined");
    throw new NotRun("client_declined", { approvalId: id });
  }
}

/** Sent with the request it belongs to, so it reaches the session that was asked and no other (S5). */
async function tellComplete(call: GuardedCall, approvalId: string, elicitationId: string): Promise<void> {
  try {
    await call.ctx.mcpReq.notify({ method: "notifications/elicitation/complete", params: { elicitationId } });
  } catch (error) {
    const code = error instanceof CountersignError ? error.code : "internal";
    call.parts.emit({ type: "call_failed", tool: call.action.tool, approvalId, call: "notify", code });
  }
}

async function standing(call: GuardedCall, id: string): Promise<StatusAnswer> {
  return await call.parts.api.status(id, { signal: call.ctx.mcpReq.signal }).catch((error: unknown) => {
    throw toNotRun(error, id);
  });
}
