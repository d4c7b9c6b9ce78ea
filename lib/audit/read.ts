import type { ReceiptRefusal } from "@countersign/mcp/receipt";
import { type Approval, type Status, statusAt } from "../approvals/approval";
import { isApprovalId } from "../approvals/id";
import { readApproval } from "../approvals/store";
import type { AuditEvent } from "../generated/prisma/client";
import type { Service } from "../process";
import { judgeReceipt } from "../receipts/judge";
import type { PersonSession } from "../sessions/session";
import { appendHourly } from "./append-hourly";
import { readEvent } from "./event";
import { isAuditor } from "./list";

export type AuditedApproval = {
  approval: Approval;
  status: Status;
  clientName: string;
  events: AuditEvent[];
  receipt: { text: string; verdict: AuditVerdict; revokedAt?: Date } | undefined;
};
/**
 * `row_mismatch`: genuine, but it tells of another end than the row does; the row was changed afterwards (I17). `before_revocation`,
 * `unproven`: signed with a key that was revoked since, from `revokedAt` on.
 */
export type AuditVerdict = "genuine" | "row_mismatch" | "before_revocation" | "unproven" | ReceiptRefusal;

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
  const text = approval.receipt;
  const expected = {
    issuer: service.issuer,
    audience: approval.clientId,
    approvalId: approval.id,
    actionDigest: approval.actionDigest,
    tool: approval.tool,
    subject: approval.subject,
  };
  const judged = await judgeReceipt(service, text, expected, approval.revokedKids);
  const { verdict } = judged;
  if (!verdict.ok) return { text, verdict: verdict.reason };
  if (judged.standing === "unproven") return { text, verdict: "unproven", revokedAt: judged.revokedAt };
  if (verdict.claims.status !== approval.status) return { text, verdict: "row_mismatch" };
  if (judged.standing === "before_revocation")
    return { text, verdict: "before_revocation", revokedAt: judged.revokedAt };
  return { text, verdict: "genuine" };
}
