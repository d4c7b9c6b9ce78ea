import type { MintAnswer, MintRequest } from "./api-types";
import { actionDigest } from "./digest";
import { NotRun } from "./endings";
import { CountersignError } from "./errors";
import type { GuardedCall } from "./guarded-call";

/**
 * Asks Countersign for a decision on this call, or finds the live one for the same action. What it says it will show must be
 * digested like what will run, or the person is not even asked (I3).
 * @throws NotRun `presentation_failed` or `unverifiable`; CountersignError
 */
export async function ask(call: GuardedCall): Promise<MintAnswer & { reused: boolean }> {
  const { parts, action, caller, client, ctx } = call;
  const described = await describe(call);
  const minted = await parts.api.mint(
    {
      caller,
      action,
      ...described,
      ...call.terms,
      reuse: "live",
      ...(client.name === undefined ? {} : { mcpClient: client.name }),
    },
    { signal: ctx.mcpReq.signal },
  );
  parts.emit({ type: "asked", tool: action.tool, approvalId: minted.id, reused: minted.reused });
  const { salt } = minted;
  if (salt === undefined || minted.actionDigest !== actionDigest({ ...action, salt })) {
    await withdraw(call, minted.id, "aborted");
    throw new NotRun("unverifiable", { approvalId: minted.id });
  }
  return minted;
}

/** Takes the request back. That this fails is only observed: nothing waits for the approval any more. */
export async function withdraw(call: GuardedCall, id: string, reason: "client_declined" | "aborted"): Promise<void> {
  try {
    await call.parts.api.withdraw(id, { reason });
  } catch (error) {
    const code = error instanceof CountersignError ? error.code : "internal";
    call.parts.emit({ type: "call_failed", tool: call.action.tool, approvalId: id, call: "withdraw", code });
  }
}

/** The preconditions are read first: what changes while the description is made is then found stale, not approved. */
async function describe(call: GuardedCall): Promise<Pick<MintRequest, "presentation" | "preconditions">> {
  try {
    const preconditions = await call.preconditions();
    return { ...preconditions, presentation: await call.present() };
  } catch {
    throw new NotRun("presentation_failed");
  }
}
