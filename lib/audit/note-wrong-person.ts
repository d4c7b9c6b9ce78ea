import { isApprovalId } from "../approvals/id";
import { readApproval } from "../approvals/store";
import { rightToDecide } from "../approvals/subject";
import type { Service } from "../process";
import { checkStoredReceipt } from "../receipts/check";
import { verifyRecord } from "../records/verify";
import type { PersonSession } from "../sessions/session";
import { appendHourly } from "./append-hourly";

/**
 * Records `security.wrong_person` where somebody opened an approval that is verifiably somebody else's, at most once an hour for each
 * approval and user, so that reloading a forwarded link does not fill the history. Unknown ids, and approvals that cannot be verified,
 * record nothing. Safe to call at any time; the page that calls it does not wait for it (section 4, I2 and I7).
 */
export async function noteWrongPerson(service: Service, session: PersonSession, approvalId: string): Promise<void> {
  const read = isApprovalId(approvalId) ? await readApproval(service.pool, approvalId) : undefined;
  if (!read) return;
  const { approval } = read;
  const record = await verifyRecord(service, approval);
  const receipt = record || approval.status === "pending" ? undefined : await checkStoredReceipt(service, approval);
  const subject = record?.sub_id ?? receipt?.sub_id;
  if (!subject || (await rightToDecide(service, session, { iss: subject.iss, sub: subject.sub }))) return;
  const { iss, sub, userId } = session;
  await appendHourly(service.pool, {
    type: "security.wrong_person",
    approvalId,
    clientId: approval.clientId,
    tool: approval.tool,
    actor: { kind: "person", iss, sub, userId },
  });
}
