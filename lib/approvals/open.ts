import type { Service } from "../process";
import { checkStoredReceipt } from "../receipts/check";
import type { RecordClaims } from "../records/claims";
import { isRecordOfRevokedKey, verifyRecord } from "../records/verify";
import type { PersonSession } from "../sessions/session";
import type { Approval } from "./approval";
import { isApprovalId } from "./id";
import { readApproval } from "./store";
import { rightToDecide } from "./subject";

export type Opened = {
  approval: Approval;
  now: Date;
  isFrozen: boolean;
  via: "self" | "admin_link";
  /** Absent once the approval was erased (section 12), or its signing key revoked: then only that and who is left. */
  record: RecordClaims | undefined;
};

/**
 * The approval for the person of this session, or undefined: unknown, malformed, somebody else's, or not verifiable, which are
 * indistinguishable (I2). Whose it is comes from the signed record, where that is gone from the signed receipt; never from a column (I17).
 */
export async function openForPerson(service: Service, session: PersonSession, id: string): Promise<Opened | undefined> {
  const read = isApprovalId(id) ? await readApproval(service.pool, id) : undefined;
  if (!read) return undefined;
  const { approval, now, isFrozen } = read;
  const record = await verifyRecord(service, approval);
  const receipt = approval.status === "pending" ? undefined : await checkStoredReceipt(service, approval);
  const isVerified =
    approval.status === "pending"
      ? record !== undefined
      : receipt !== undefined &&
        (record !== undefined || approval.erasedAt !== null || (await isRecordOfRevokedKey(service, approval)));
  if (!isVerified) {
    service.log.error({ approvalId: id }, "the stored approval cannot be verified; nothing of it is shown");
    return undefined;
  }
  const subject = record?.sub_id ?? receipt?.sub_id;
  const via = subject && (await rightToDecide(service, session, { iss: subject.iss, sub: subject.sub }));
  return via && { approval, now, isFrozen, via, record };
}
