import { isApprovalId } from "../approvals/id";
import { readApproval } from "../approvals/store";
import { rightToDecide } from "../approvals/subject";
import { transact } from "../database/transact";
import type { Service } from "../process";
import { checkStoredReceipt } from "../receipts/check";
import { verifyRecord } from "../records/verify";
import type { PersonSession } from "../sessions/session";
import { appendAudit } from "./append";

/**
 * Records `security.wrong_person` where somebody opened an approval that is verifiably somebody else's, at most once an hour for each
 * approval and user, so that reloading a forwarded link does not fill the history. Unknown ids, and approvals that cannot be verified,
 * record nothing. Safe to call at any time; the page that calls it does not wait for it (section 4, I2 and I7).
 */
export async function noteWrongPerson(service: Service, session: PersonSession, approvalId: string): Promise<void> {
  const read = isApprovalId(approvalId) ? await readApproval(service.pool, approvalId) : undefined;
  if (!read) return;
  const { approval } = read;
  const record = await verifyRecord(service, approvalId, approval.record);
  const receipt = record || approval.status === "pending" ? undefined : await checkStoredReceipt(service, approval);
  const subject = record?.sub_id ?? receipt?.sub_id;
  if (!subject || (await rightToDecide(service, session, { iss: subject.iss, sub: subject.sub }))) return;
  const { iss, sub, userId } = session;
  await transact(service.pool, async (db) => {
    // Two reloads at the same moment would both find nothing.
    await db.query(
      `SELECT pg_advisory_xact_lock(hashtextextended('wrong_person' || E'\\n' || $1 || E'\\n' || $2, 0))`,
      [approvalId, userId],
    );
    const { rowCount } = await db.query(
      `SELECT 1 FROM "audit_event" WHERE "approval_id" = $1 AND "type" = 'security.wrong_person'
         AND "actor" ->> 'userId' = $2 AND "at" > clock_timestamp() - INTERVAL '1 hour' LIMIT 1`,
      [approvalId, userId],
    );
    if (rowCount) return;
    await appendAudit(db, {
      type: "security.wrong_person",
      approvalId,
      clientId: approval.clientId,
      tool: approval.tool,
      actor: { kind: "person", iss, sub, userId },
    });
  });
}
