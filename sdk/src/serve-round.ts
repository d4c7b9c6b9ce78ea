import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
} from "@modelcontextprotocol/server";
import type { StatusAnswer } from "./api-types";
import { ask, withdraw } from "./ask";
import { conclude } from "./conclude";
import { NotRun, toNotRun } from "./endings";
import type { GuardedCall } from "./guarded-call";
import { readState } from "./request-state";
import { waitForDecision } from "./wait";

/** The name of the one input that is asked for. */
const INPUT = "approval";

/**
 * Serves one round of a call under revision 2026-07-28 (multi round-trip requests). The first round asks and returns the link; a
 * later one waits inside the handler, and asks the MCP client to come back when that takes too long for one request. What the MCP
 * client answers can end the wait but never decides (I1).
 * @throws NotRun for every ending without a run
 */
export async function serveRound(call: GuardedCall): Promise<CallToolResult | InputRequiredResult> {
  const { parts, ctx, caller } = call;
  const state = ctx.mcpReq.requestState();
  if (state === undefined) return await firstRound(call);
  const found = await readState(parts.api, state, caller);
  if (isOpen(found)) await heedClientAnswer(call, found.id);
  const untilMs = performance.now() + parts.pollMs;
  const { signal } = ctx.mcpReq;
  const answer = found.next === "wait" ? await waitForDecision(call, found.id, { signal, untilMs }) : found;
  if (answer.next === "wait") return inputRequired({ requestState: found.id });
  return await conclude(call, answer);
}

async function firstRound(call: GuardedCall): Promise<CallToolResult | InputRequiredResult> {
  const minted = await ask(call);
  if (minted.next === "wait") {
    const { message, url } = minted.elicitation;
    return inputRequired({
      inputRequests: { [INPUT]: inputRequired.elicitUrl({ message, url }) },
      requestState: minted.id,
    });
  }
  // The user had accepted this very action already, in a call whose answer was lost.
  const answer = await call.parts.api.status(minted.id, { signal: call.ctx.mcpReq.signal }).catch((error: unknown) => {
    throw toNotRun(error, minted.id);
  });
  return await conclude(call, answer, minted);
}

function isOpen(answer: StatusAnswer): boolean {
  return answer.next === "wait" || answer.next === "run";
}

/** `accept` only says that the page was opened, and is forgeable; to stop at `decline` and `cancel` is always safe. */
async function heedClientAnswer(call: GuardedCall, approvalId: string): Promise<void> {
  const response = inputResponse(call.ctx.mcpReq.inputResponses, INPUT);
  if (response.kind !== "elicit") return;
  if (response.action === "cancel") throw new NotRun("client_cancelled", { approvalId });
  if (response.action === "decline") {
    await withdraw(call, approvalId, "client_declined");
    throw new NotRun("client_declined", { approvalId });
  }
}
