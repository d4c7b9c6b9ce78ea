import { type ReceiptRefusal, verifyReceipt } from "@countersign/mcp/receipt";
import { type Approval, type Status, statusAt } from "../approvals/approval";
import { isApprovalId } from "../approvals/id";
import { readApproval } from "../approvals/store";
import type { AuditEvent } from "../generated/prisma/client";
import type { Service } from "../process";
import type { PersonSession } from "../sessions/session";
import { appendHourly } from "./append-hourly";
import { readEvent } from "./event";
import { isAuditor } from "./list";

export type AuditedApproval = {
  approval: Approval;
  status: Status;
  clientName: string;
  events: AuditEvent[];
  receipt: { text: string; verdict: AuditVerdict } | undefined;
};
/** `row_mismatch`: genuine, but it tells of another end than the row does; the row was changed afterwards (I17). */
export type AuditVerdict = "genuine" | "row_mismatch" | ReceiptRefusal;

/**
 * The history of one approval for an auditor: its events, what stays of it, and whether its receipt is genuine. Undefined for everybody else
 * and for what does not exist. No argument value is in it, retained or not (I9).
 */
export async function readAudited(
  service: Service,
  session: PersonSession,
  approvalId: string,
): Promise<AuditedApproval | undefined> {
  if (!isAuditor(session) || !isApprovalId(approvalId)) return undefined;
  const read = await readApproval(service.pool, approvalId);
  if (!read) return undefined;
  const { approval, now } = read;
  const [client, events] = await Promise.all([
    service.prisma.client.findUniqueOrThrow({ where: { id: approval.clientId } }),
    service.prisma.auditEvent.findMany({ where: { approvalId }, orderBy: { seq: "asc" } }),
  ]);
  await appendHourly(service.pool, readEvent(session, approvalId));
  return {
    approval,
    status: statusAt(approval, now),
    clientName: client.name,
    events,
    receipt: await checked(service, approval),
  };
}

/** Against everything the page says of the approval, so that "genuine" vouches for what the auditor reads. */
async function checked(service: Service, approval: Approval): Promise<AuditedApproval["receipt"]> {
  if (approval.status === "pending") return undefined;
  const verdict = await verifyReceipt(approval.receipt, {
    issuer: service.issuer,
    audience: approval.clientId,
    approvalId: approval.id,
    actionDigest: approval.actionDigest,
    tool: approval.tool,
    subject: approval.subject,
    keys: (kid) => service.keys.find(kid),
  });
  if (!verdict.ok) return { text: approval.receipt, verdict: verdict.reason };
  return { text: approval.receipt, verdict: verdict.claims.status === approval.status ? "genuine" : "row_mismatch" };
}
