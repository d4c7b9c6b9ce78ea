import type { Approval, Decision, Outcome, Status } from "../approvals/approval";
import { rfc3339 } from "../receipts/sign";

/** What an event tells of its approval, as it was at that moment; ids, codes, instants and the receipt alone (I9). */
export type ApprovalData = {
  tool: string;
  actionDigest: string;
  status: Status;
  decision?: Decision;
  reason?: string;
  decidedAt?: string;
  actBy?: string;
  consumedAt?: string;
  outcome?: Outcome;
  outcomeCode?: string;
  receipt?: string;
};

export function approvalData(approval: Approval): ApprovalData {
  return {
    tool: approval.tool,
    actionDigest: approval.actionDigest,
    status: approval.status,
    ...endOf(approval),
    ...(approval.status === "pending" ? {} : { receipt: approval.receipt }),
  };
}

function endOf(approval: Approval): Partial<ApprovalData> {
  switch (approval.status) {
    case "pending":
    case "expired":
      return {};
    case "accepted":
      return {
        decision: "accept",
        decidedAt: rfc3339(approval.decidedAt),
        actBy: rfc3339(approval.actBy),
        ...consumptionOf(approval.consumption),
      };
    case "declined":
      return { decision: "decline", decidedAt: rfc3339(approval.decidedAt), ...reasonOf(approval.reason) };
    case "cancelled":
      return { decision: "cancel", decidedAt: rfc3339(approval.decidedAt) };
    case "withdrawn":
      return reasonOf(approval.reason);
    default:
      return approval satisfies never;
  }
}

const reasonOf = (reason: string | null) => (reason === null ? {} : { reason });

function consumptionOf(consumption: Extract<Approval, { status: "accepted" }>["consumption"]): Partial<ApprovalData> {
  if (consumption.at === null) return {};
  const { at, outcome } = consumption;
  const code = outcome === null || outcome.code === null ? {} : { outcomeCode: outcome.code };
  return { consumedAt: rfc3339(at), ...(outcome ? { outcome: outcome.value, ...code } : {}) };
}
