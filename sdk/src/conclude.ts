import { randomBytes } from "node:crypto";
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { ConsumeAnswer, MintAnswer, Outcome, StatusAnswer } from "./api-types";
import { isSameCaller } from "./caller";
import { endingOfStatus, NotRun, toNotRun } from "./endings";
import { CountersignError } from "./errors";
import type { Grant } from "./gate";
import type { GuardedCall } from "./guarded-call";
import type { ReceiptClaims } from "./receipt";
import type { GateReceiptExpectation } from "./service-identity";
import { failureText, noteText } from "./texts";

/**
 * What a decided approval leads to: a run, once, if it was accepted and this attempt is granted it; else its own ending.
 * `minted` is the answer to the mint, where this round made it: then the receipt must name the digest that was computed here, and have
 * a passkey's signature if the policy asks for one. Without it `consume` compares the action, and the gate's and the tool's own demand
 * for a passkey is held up.
 * @throws NotRun before the handler is entered, never after
 */
export async function conclude(call: GuardedCall, answer: StatusAnswer, minted?: Minted): Promise<CallToolResult> {
  if (answer.next !== "run") throw endingOfStatus(answer, await reasonOf(call, answer));
  const expected = expectationOf(call, answer.id, minted);
  const accepted = await verifiedAccept(call, expected, answer.receipt);
  // 256 random bits for this attempt alone, kept nowhere: whoever loses them never runs (I5).
  const consumerToken = randomBytes(32).toString("base64url");
  const granted = await consume(call, answer.id, consumerToken);
  let grant: Grant;
  try {
    const actionDigest = accepted.action_digest;
    const claims = await verifiedAccept(call, { ...expected, actionDigest }, granted.receipt);
    throwIfInterrupted(call, answer.id);
    grant = { approvalId: answer.id, receipt: granted.receipt, claims, ...(answer.note ? { note: answer.note } : {}) };
  } catch (error) {
    // Consumed, and not run: the approval is spent, and the record says why.
    await report(call, answer.id, { consumerToken, outcome: "failed", code: "not_run" });
    throw error;
  }
  return await run(call, grant, consumerToken);
}

type Minted = Pick<MintAnswer, "actionDigest" | "effectiveRequirements">;
type Expected = GateReceiptExpectation & { approvalId: string };

/** What the receipt of this approval must say for this call to run. */
function expectationOf({ caller, action, parts, terms }: GuardedCall, approvalId: string, minted?: Minted): Expected {
  const demands = [terms.requirements?.passkey, minted?.effectiveRequirements?.["passkey"]];
  const { credentials, pinned, origin } = parts.options;
  return {
    approvalId,
    tool: action.tool,
    subject: { iss: caller.iss, sub: caller.sub },
    decision: "accept",
    ...(minted === undefined ? {} : { actionDigest: minted.actionDigest }),
    ...(demands.includes("required") ? { passkey: "required" } : {}),
    ...(credentials === undefined ? {} : { credentials }),
    ...(pinned === undefined ? {} : { pinned }),
    ...(origin === undefined ? {} : { origin }),
  };
}

async function run(call: GuardedCall, grant: Grant, consumerToken: string): Promise<CallToolResult> {
  const { approvalId } = grant;
  let result: CallToolResult;
  try {
    result = withNote(await call.run(grant), grant);
  } catch (error) {
    // From here on it has started: whatever fails must not read as if nothing had run.
    const text = failureText(call.action.tool, error instanceof Error ? error.message : String(error), approvalId);
    result = { isError: true, content: [{ type: "text", text }] };
  }
  const outcome: Outcome = result.isError === true ? "failed" : "succeeded";
  call.parts.emit({ type: "ran", tool: call.action.tool, approvalId, outcome });
  await report(call, approvalId, { consumerToken, outcome });
  return { ...result, _meta: { ...result._meta, "countersign/approvalId": approvalId } };
}

function withNote(result: CallToolResult, { note }: Grant): CallToolResult {
  const said: CallToolResult["content"] = note === undefined ? [] : [{ type: "text", text: noteText(note) }];
  return { ...result, content: [...(result.content ?? []), ...said] };
}

async function consume(call: GuardedCall, id: string, consumerToken: string): Promise<ConsumeAnswer> {
  const { caller, action, parts } = call;
  try {
    const preconditions = await call.preconditions();
    throwIfInterrupted(call, id);
    return await parts.api.consume(id, { caller, action, consumerToken, ...preconditions });
  } catch (error) {
    if (!(error instanceof CountersignError && error.code === "not_accepted")) throw toNotRun(error, id);
  }
  // It changed between the answer and the grant, e.g. it was taken back: say how it stands now.
  const now = await parts.api.status(id).catch((error: unknown) => {
    throw toNotRun(error, id);
  });
  throw endingOfStatus(now, await reasonOf(call, now));
}

async function verifiedAccept(
  call: GuardedCall,
  expected: Expected,
  receipt: string | undefined,
): Promise<ReceiptClaims> {
  const { caller, parts } = call;
  const { approvalId } = expected;
  if (receipt === undefined) throw new NotRun("unverifiable", { approvalId, detail: "no receipt" });
  const verdict = await parts.identity.verify(receipt, expected);
  if (verdict.ok && isSameCaller(verdict.claims.caller, caller)) return verdict.claims;
  if (!verdict.ok && verdict.reason === "keys_unavailable") throw new NotRun("unreachable", { approvalId });
  // A receipt for another action or tool is no forgery: the state belonged to another call.
  if (!verdict.ok && (verdict.reason === "wrong_action" || verdict.reason === "wrong_tool")) {
    throw new NotRun("action_mismatch", { approvalId });
  }
  throw new NotRun("unverifiable", { approvalId, detail: verdict.ok ? "wrong_caller" : verdict.reason });
}

/** Why it ended, as far as the service or a genuine receipt tells. */
async function reasonOf(call: GuardedCall, answer: StatusAnswer): Promise<string | undefined> {
  if (answer.reason !== undefined || answer.receipt === undefined) return answer.reason;
  const verdict = await call.parts.identity.verify(answer.receipt, { approvalId: answer.id });
  return verdict.ok ? verdict.claims.reason : undefined;
}

async function report(
  call: GuardedCall,
  id: string,
  outcome: { consumerToken: string; outcome: Outcome; code?: string },
): Promise<void> {
  try {
    await call.parts.api.reportOutcome(id, outcome);
  } catch (error) {
    // It ran, and the agent is told so; a lost report is `unknown` to the auditor and never a reason to run again.
    const code = error instanceof CountersignError ? error.code : "internal";
    call.parts.emit({ type: "call_failed", tool: call.action.tool, approvalId: id, call: "outcome", code });
  }
}

/** After a cancellation nothing runs and nothing is consumed (S35). */
function throwIfInterrupted(call: GuardedCall, approvalId: string): void {
  if (call.ctx.mcpReq.signal.aborted) throw new NotRun("interrupted", { approvalId });
}
