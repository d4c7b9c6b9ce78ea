import { randomBytes } from "node:crypto";
import type { ConsumeAnswer, Outcome, StatusAnswer } from "../api-types";
import { CountersignError } from "../errors";
import type { ReceiptClaims } from "../receipt";
import { isSameCaller } from "./caller";
import { endingOfStatus, NotRun, toNotRun } from "./endings";
import type { GuardedCall } from "./guarded-call";
import { type ApprovedGrant, runApproved } from "./run";
import type { GateReceiptExpectation } from "./service-identity";
import type { ToolResult } from "./spec";

/** How long after the grant was asked for the tool may start. Judged by a clock that nobody sets. */
const START_WITHIN_MS = 10_000;

/**
 * What a decided approval leads to: a run, once, if it was accepted and this attempt is granted it; else its own ending. Before the grant
 * the receipt is verified, the caller looked at again and every check read again.
 * `asked` is what the service says that was asked for, compared with this call by whoever gives it: the receipt must name its digest, and
 * have a passkey's signature if the policy asks for one. Of what was erased meanwhile it says nothing; then `consume` compares the action.
 * @throws NotRun before the handler is entered, never after
 */
export async function conclude(call: GuardedCall, answer: StatusAnswer, asked: Asked): Promise<ToolResult> {
  if (answer.next !== "run") throw endedAs(answer, await reasonOf(call, answer), asked);
  const expected = expectationOf(call, answer.id, asked);
  const accepted = await verifiedAccept(call, expected, answer.receipt);
  // 256 random bits for this attempt alone, kept nowhere: whoever loses them never runs (I5).
  const consumerToken = randomBytes(32).toString("base64url");
  const preconditions = await recheck(call, answer.id);
  const askedAtMs = performance.now();
  const granted = await consume(call, answer.id, { consumerToken, ...preconditions }).catch(async (error: unknown) => {
    // The grant may have been given and its answer lost: then nobody has run it, and nobody will.
    if (error instanceof NotRun && error.ending === "unreachable")
      await report(call, answer.id, notStarted(consumerToken));
    throw error;
  });
  let grant: ApprovedGrant;
  try {
    const actionDigest = accepted.action_digest;
    const claims = await verifiedAccept(call, { ...expected, actionDigest }, granted.receipt);
    throwIfInterrupted(call, answer.id);
    throwIfLate(askedAtMs, answer.id);
    const note = answer.note ? { note: answer.note } : {};
    grant = { via: "countersign", approvalId: answer.id, receipt: granted.receipt, claims, ...note };
  } catch (error) {
    // Consumed, and not run: the approval is spent, and the record says why.
    await report(call, answer.id, notStarted(consumerToken));
    throw error;
  }
  const { result, outcome } = await runApproved(call, grant);
  await report(call, answer.id, { consumerToken, outcome });
  return result;
}

const notStarted = (consumerToken: string) => ({ consumerToken, outcome: "failed", code: "not_started" }) as const;

/** An ending of an approval that is known to be for this very call may be told to the author's hooks. */
function endedAs(answer: StatusAnswer, reason: string | undefined, { salt }: Asked): NotRun {
  const { ending, facts } = endingOfStatus(answer, reason);
  return new NotRun(ending, { ...facts, isOwn: salt !== undefined });
}

type Asked = {
  actionDigest?: string | undefined;
  salt?: string | undefined;
  effectiveRequirements?: Readonly<Record<string, unknown>> | undefined;
};
type Expected = GateReceiptExpectation & { approvalId: string };

/** What the receipt of this approval must say for this call to run. */
function expectationOf({ caller, action, parts, terms }: GuardedCall, approvalId: string, asked: Asked): Expected {
  const demands = [terms.requirements?.passkey, asked.effectiveRequirements?.["passkey"]];
  const { credentials, pinned, origin } = parts.settings;
  return {
    approvalId,
    tool: action.tool,
    subject: { iss: caller.iss, sub: caller.sub },
    decision: "accept",
    ...(asked.salt === undefined || asked.actionDigest === undefined ? {} : { actionDigest: asked.actionDigest }),
    ...(demands.includes("required") ? { passkey: "required" } : {}),
    ...(credentials === undefined ? {} : { credentials }),
    ...(pinned === undefined ? {} : { pinned }),
    ...(origin === undefined ? {} : { origin }),
  };
}

/**
 * Minutes may have passed since the person was asked: who calls and what the action is about are read again.
 * @throws NotRun `caller_gone`, `stale` or `interrupted`; how it ended, where another round has run it meanwhile and so made it stale
 */
async function recheck(
  call: GuardedCall,
  approvalId: string,
): Promise<Awaited<ReturnType<GuardedCall["preconditions"]>>> {
  await call.verifyCaller();
  const read = await readAgain(call);
  throwIfInterrupted(call, approvalId);
  if (read !== undefined) return read;
  const now = await statusNow(call, approvalId);
  throw now.next === "run" ? new NotRun("stale", { approvalId }) : endingOfStatus(now, await reasonOf(call, now));
}

/** `undefined`: something differs, or cannot be read, and then it is not what was approved. */
async function readAgain(call: GuardedCall) {
  try {
    const checks = (await call.checks()) ?? [];
    if (checks.some(({ claimed, actual }) => claimed !== actual)) return undefined;
    return await call.preconditions();
  } catch {
    return undefined;
  }
}

async function consume(
  call: GuardedCall,
  id: string,
  attempt: { consumerToken: string; preconditions?: Readonly<Record<string, unknown>> },
): Promise<ConsumeAnswer> {
  const { caller, action, parts } = call;
  try {
    return await parts.api.consume(id, { caller, action, ...attempt });
  } catch (error) {
    if (!(error instanceof CountersignError && error.code === "not_accepted")) throw toNotRun(error, id);
  }
  // It changed between the answer and the grant, e.g. it was taken back: say how it stands now.
  const now = await statusNow(call, id);
  throw endingOfStatus(now, await reasonOf(call, now));
}

async function statusNow({ parts }: GuardedCall, id: string): Promise<StatusAnswer> {
  return await parts.api.status(id).catch((error: unknown) => {
    throw toNotRun(error, id);
  });
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
async function reasonOf({ parts }: GuardedCall, answer: StatusAnswer): Promise<string | undefined> {
  if (answer.reason !== undefined || answer.receipt === undefined) return answer.reason;
  const verdict = await parts.identity.verify(answer.receipt, { approvalId: answer.id });
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
function throwIfInterrupted({ mcp }: GuardedCall, approvalId: string): void {
  if (mcp.signal.aborted) throw new NotRun("interrupted", { approvalId });
}

/** A process that was stopped for a while must not start what the person thinks over by now. */
function throwIfLate(askedAtMs: number, approvalId: string): void {
  if (performance.now() - askedAtMs > START_WITHIN_MS) throw new NotRun("not_started", { approvalId });
}
