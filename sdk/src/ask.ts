import type { MintAnswer, Presentation } from "./api-types";
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
  const presentation = await described(call);
  const minted = await parts.api.mint(
    {
      caller,
      action,
      presentation,
      ...call.terms,
      ...(await call.preconditions()),
      reuse: "live",
      ...(client.name === undefined ? {} : { mcpClient: client.name }),
    },
    { signal: ctx.mcpReq.signal },
  );
  parts.emit({ type: "asked", tool: action.tool, approvalId: minted.id, reused: minted.reused });
  if (minted.actionDigest !== actionDigest({ ...action, salt: minted.salt })) {
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

async function described(call: GuardedCall): Promise<Presentation> {
  try {
    return await call.present();
  } catch {
    throw new NotRun("presentation_failed");
  }
}
