import type { Status } from "../approvals/approval";
import { Problem } from "../problem";
import type { Service } from "../process";
import { judgeReceipt } from "../receipts/judge";
import type { StoredEvent } from "./event";

/**
 * Whether an event may be signed: the receipt in it is this deployment's, for this client and approval, and says what the event says
 * (I17). So whoever can write rows makes no event of a decision that nobody made. Events of a client hold nothing that could be checked;
 * they, like all, are wake-ups. Errors: `unavailable` where the signing keys cannot be read.
 */
export async function isGenuineEvent(service: Service, event: StoredEvent): Promise<boolean> {
  if (event.approvalId === null) return event.type in clientEvents;
  const { receipt, tool, actionDigest, status } = event.data;
  if (![receipt, tool, actionDigest, status].every((member) => typeof member === "string")) return false;
  const { verdict, standing } = await judgeReceipt(service, receipt as string, {
    issuer: service.issuer,
    audience: event.clientId,
    approvalId: event.approvalId,
    tool: tool as string,
    actionDigest: actionDigest as string,
  });
  if (!verdict.ok && verdict.reason === "keys_unavailable") throw new Problem("unavailable");
  if (!verdict.ok || standing === "refused") return false;
  const { claims } = verdict;
  const { decision, reason, actBy, decidedAt } = event.data;
  return (
    status === statusOf[event.type] &&
    claims.status === status &&
    claims.decision === decision &&
    claims.reason === reason &&
    claims.act_by === actBy &&
    (decidedAt === undefined || claims.decided_at === decidedAt)
  );
}

const clientEvents = { "client.frozen": true, "client.unfrozen": true, "webhook.test": true };

const statusOf: Record<string, Status> = {
  "approval.accepted": "accepted",
  "approval.declined": "declined",
  "approval.cancelled": "cancelled",
  "approval.expired": "expired",
  "approval.withdrawn": "withdrawn",
  "approval.lapsed": "accepted",
  "approval.consumed": "accepted",
  "approval.outcome": "accepted",
};
