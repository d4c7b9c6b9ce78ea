import type { MintAnswer, MintRequest, Presentation } from "../api-types";
import { actionDigest, canonicalJson } from "../digest";
import { CountersignError } from "../errors";
import { copyExactly } from "../exact-json";
import { findSecrets } from "../secret-shapes";
import { NotRun } from "./endings";
import type { GuardedCall } from "./guarded-call";

/**
 * Asks Countersign for a decision on this call, or finds the live one for the same action. What it says it will show must be
 * digested like what will run, or the person is not even asked (I3). `terms` go before those of the tool.
 * @throws NotRun `presentation_failed`, `unverifiable` or `too_many_asked`; CountersignError
 */
export async function ask(call: GuardedCall, terms: GuardedCall["terms"] = {}): Promise<Minted> {
  const { parts, action, caller, mcp } = call;
  const asked = canonicalJson(action);
  throwIfAskedTooOften(call, asked);
  const described = await describe(call);
  warnOfSecrets(call, described.presentation);
  const minted = await parts.api.mint(
    {
      caller,
      action,
      ...described,
      ...call.terms,
      ...terms,
      reuse: "live",
      ...(mcp.clientInfo === undefined ? {} : { mcpClient: mcp.clientInfo }),
    },
    { signal: mcp.signal },
  );
  parts.asked.note(call.workflow, asked);
  parts.emit({ type: "asked", tool: action.tool, approvalId: minted.id, reused: minted.reused });
  const { salt } = minted;
  if (salt === undefined || minted.actionDigest !== actionDigest({ ...action, salt })) {
    await withdraw(call, minted.id, "aborted");
    throw new NotRun("unverifiable", { approvalId: minted.id });
  }
  return minted;
}

export type Minted = MintAnswer & { reused: boolean };

/** Takes the request back. That this fails is only observed: nothing waits for the approval any more. */
export async function withdraw(call: GuardedCall, id: string, reason: "client_declined" | "aborted"): Promise<void> {
  try {
    await call.parts.api.withdraw(id, { reason });
  } catch (error) {
    const code = error instanceof CountersignError ? error.code : "internal";
    call.parts.emit({ type: "call_failed", tool: call.action.tool, approvalId: id, call: "withdraw", code });
  }
}

/** An action counts once, so that a call which comes back for its answer is never refused. */
function throwIfAskedTooOften({ parts, workflow }: GuardedCall, action: string): void {
  const { maxApprovalsPerWorkflow: max, workflowSeconds } = parts.settings;
  const asked = new Set(parts.asked.of(workflow));
  if (asked.has(action) || asked.size < max) return;
  throw new NotRun("too_many_asked", { detail: `${max} / ${workflowSeconds} s` });
}

/** The service refuses what looks like a secret unless its policy allows that kind; the author learns of it here, and of where. */
function warnOfSecrets({ parts, action, terms }: GuardedCall, presentation: Presentation): void {
  const searched = { action: { arguments: action.arguments }, presentation, metadata: terms.metadata ?? {} };
  for (const { kind, pointer } of findSecrets(copyExactly(searched)))
    parts.emit({ type: "secret_seen", tool: action.tool, kind, pointer });
}

/** The preconditions are read first: what changes while the description is made is then found stale, not approved. */
async function describe(call: GuardedCall): Promise<Pick<MintRequest, "presentation" | "preconditions">> {
  try {
    const preconditions = await call.preconditions();
    const presentation = await call.present();
    const checks = await call.checks();
    const shown = withReads(presentation, call.parts.reads.of(call.workflow));
    return { ...preconditions, presentation: { ...shown, ...(checks === undefined ? {} : { checks }) } };
  } catch {
    throw new NotRun("presentation_failed");
  }
}

const MAX_DETAILS = 20;
const MAX_SOURCES_CHARACTERS = 300;

/** Says on the page what others' text the agent has read before it asked: a page or a mail may have talked it into this. */
function withReads(presentation: Presentation, sources: readonly string[]): Presentation {
  const details = presentation.details ?? [];
  if (sources.length === 0 || details.length >= MAX_DETAILS) return presentation;
  const newestFirst = [...new Set(sources)].reverse().join(", ");
  const value = Array.from(newestFirst).slice(0, MAX_SOURCES_CHARACTERS).join("");
  const label = { en: "Before asking, the AI read", ja: "依頼の前に AI が読んだもの" };
  return { ...presentation, details: [...details, { label, value, risk: true }] };
}
