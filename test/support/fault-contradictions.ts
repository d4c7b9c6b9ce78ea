import { actionDigest } from "@countersign/mcp/digest";
import { type ReceiptClaims, verifyReceipt } from "@countersign/mcp/receipt";
import { toolName } from "./fault-caller";
import type { ApprovalRow, Evidence } from "./fault-evidence";
import type { RunResult } from "./fault-run";

const isExecuted = ({ effects }: Evidence, { minted }: RunResult) =>
  effects.some(({ approvalId }) => approvalId === minted?.id);

async function claimsOf(
  evidence: Evidence,
  { minted, plan }: RunResult,
  row: ApprovalRow,
): Promise<ReceiptClaims | string> {
  if (row.receipt === null) return "it has no receipt";
  const verdict = await verifyReceipt(row.receipt, {
    issuer: evidence.issuer,
    audience: row.client_id,
    keys: evidence.keys,
    approvalId: row.id,
    tool: toolName,
    actionDigest: actionDigest({
      tool: toolName,
      arguments: { project_id: `p_${plan.run}`, expected_items: plan.run },
      salt: minted?.salt ?? "",
    }),
  });
  return verdict.ok ? verdict.claims : `its receipt is ${verdict.reason}`;
}

export async function executedWithoutReceipt(evidence: Evidence): Promise<string[]> {
  const found: string[] = [];
  for (const result of evidence.results.filter((each) => isExecuted(evidence, each))) {
    const row = evidence.approvals.get(result.minted?.id ?? "");
    const claims = row ? await claimsOf(evidence, result, row) : "it has no row";
    const { run } = result.plan;
    if (typeof claims === "string") found.push(`run ${run}: ${claims}`);
    else if (claims.decision !== "accept") found.push(`run ${run}: the receipt says ${claims.decision}`);
  }
  return found;
}

export async function unexplained(evidence: Evidence): Promise<string[]> {
  const found: string[] = [];
  for (const result of evidence.results.filter((each) => !isExecuted(evidence, each))) {
    const about = `run ${result.plan.run} (${result.plan.story})`;
    if (!result.minted) {
      if (result.endings.length === 0) found.push(`${about}: it was not minted, and nothing says why`);
      continue;
    }
    const row = evidence.approvals.get(result.minted.id);
    if (!row) found.push(`${about}: what was minted is gone`);
    else if (row.status === "accepted") {
      const isSpent = row.outcome_code === "not_started" || row.outcome === "unknown";
      if (row.consumed_at ? !isSpent : !row.settled_at) found.push(`${about}: accepted, ${row.outcome}, not executed`);
    } else {
      const claims = await claimsOf(evidence, result, row);
      if (typeof claims === "string") found.push(`${about}: ${claims}`);
      else if (claims.status !== row.status || (claims.reason ?? null) !== row.reason)
        found.push(`${about}: ${row.status} ${row.reason}, and the receipt says ${claims.status} ${claims.reason}`);
    }
  }
  return found;
}

/** What the person of a story presses, if anything. */
function pressedIn({ plan, decided }: RunResult): string | undefined {
  if (!decided?.pressed) return undefined;
  return plan.story === "declined" ? "decline" : plan.story === "cancelled" ? "cancel" : "accept";
}

export function decisionsNotPressed({ results, audit }: Evidence): string[] {
  const pressed = new Map(results.map((result) => [result.minted?.id, pressedIn(result)]));
  return audit
    .filter(({ type, decision, approval_id }) => {
      const isDecision = ["approval.accepted", "approval.declined", "approval.cancelled"].includes(type);
      return isDecision && (decision === null || pressed.get(approval_id) !== decision);
    })
    .map(({ approval_id, decision }) => `${approval_id}: ${decision}, which nobody pressed`);
}

export function lostDecisions({ results, audit, approvals }: Evidence): string[] {
  return results.flatMap((result) => {
    const { plan, minted, decided, tookBack } = result;
    const wanted = pressedIn(result);
    const events = audit.filter(({ approval_id }) => approval_id === minted?.id);
    const isLost = decided?.confirmed && !events.some(({ decision }) => decision === wanted);
    const row = approvals.get(minted?.id ?? "");
    const isLostBack = tookBack?.confirmed && row?.reason !== "taken_back";
    return [
      ...(isLost ? [`run ${plan.run}: ${wanted} was confirmed and is not in the history`] : []),
      ...(isLostBack ? [`run ${plan.run}: taking back was confirmed, and it is ${row?.status}`] : []),
    ];
  });
}

export function wrongOutcomes(evidence: Evidence): string[] {
  const { results, approvals, unreported } = evidence;
  return results.flatMap((result) => {
    const row = approvals.get(result.minted?.id ?? "");
    if (!row?.consumed_at) return [];
    const { plan } = result;
    const about = `run ${plan.run} (${plan.story}): ${row.outcome} ${row.outcome_code ?? ""}`;
    const ran = isExecuted(evidence, result);
    if (row.outcome === "unknown")
      return row.outcome_derived && unreported.has(row.id) ? [] : [`${about}, not derived`];
    const wanted = !ran || plan.story === "tool_fails" ? "failed" : "succeeded";
    if (row.outcome !== wanted || (ran && row.outcome_code !== null)) return [`${about}, and it was ${wanted}`];
    return ran && plan.story === "dies_after_run" ? [`${about}, and whoever ran it had died`] : [];
  });
}

const paths = [
  "minted accepted consumed outcome",
  "minted accepted withdrawn",
  "minted accepted lapsed",
  "minted declined",
  "minted cancelled",
  "minted expired",
  "minted withdrawn",
];
const lastOf: Record<string, string[]> = {
  accepted: ["outcome", "lapsed"],
  declined: ["declined"],
  cancelled: ["cancelled"],
  expired: ["expired"],
  withdrawn: ["withdrawn"],
};

export function wrongHistories({ audit, outbox, approvals }: Evidence): string[] {
  const found: string[] = [];
  for (const row of approvals.values()) {
    const events = audit.filter(({ approval_id }) => approval_id === row.id);
    const path = events.map(({ type }) => type.replace("approval.", "")).join(" ");
    const last = path.split(" ").at(-1) ?? "";
    if (!paths.includes(path) || !lastOf[row.status]?.includes(last)) found.push(`${row.id} (${row.status}): ${path}`);
    const isNumbered = events.every(({ approval_seq }, i) => approval_seq === i + 1) && row.seq === events.length;
    if (!isNumbered)
      found.push(`${row.id}: numbered ${events.map((event) => event.approval_seq)}, the newest ${row.seq}`);
  }
  const told = audit.filter(({ type }) => type !== "approval.minted").map(keyOf);
  return [...found, ...differences("history", told, "outbox", outbox.map(keyOf))];
}

const keyOf = (event: { type: string; client_id: string; approval_id: string; approval_seq: number }) =>
  `${event.client_id} ${event.approval_id} ${event.approval_seq} ${event.type}`;

export function wrongDeliveries({ audit, received, forged, approvals }: Evidence): string[] {
  const told = audit.filter(({ type }) => type !== "approval.minted").map(keyOf);
  const came = received.map((e) =>
    keyOf({ type: e.type, client_id: e.endpoint, approval_id: e.approvalId, approval_seq: e.approvalSeq }),
  );
  const digests = received
    .filter(({ data }) => data["clientId"] !== approvals.get(String(data["approvalId"]))?.client_id)
    .map(({ approvalId }) => `${approvalId} came as another client's`);
  return [...forged, ...digests, ...differences("history", told, "receiver", [...new Set(came)])];
}

/** What one list has and the other has not, or has more often. */
function differences(nameA: string, a: string[], nameB: string, b: string[]): string[] {
  const left = [...b];
  const missing = a.filter((each) => {
    const at = left.indexOf(each);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  return [
    ...missing.map((each) => `${each} is in the ${nameA} and not in the ${nameB}`),
    ...left.map((each) => `${each} is in the ${nameB} and not in the ${nameA}`),
  ];
}
