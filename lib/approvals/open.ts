import type { Service } from "../process";
import { checkStoredReceipt } from "../receipts/check";
import { subjectByRevokedKey } from "../receipts/revoked";
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

/** `key_revoked`: it is theirs as far as can be told, but a key that signed it was revoked since, so nothing of it counts or is shown. */
export type LookedUp = { kind: "opened"; opened: Opened } | { kind: "key_revoked" } | { kind: "missing" };

/**
 * The approval for the person of this session. `missing`: unknown, malformed, somebody else's, or not verifiable, which are
 * indistinguishable (I2). Whose it is comes from the signed record, where that is gone from the signed receipt; never from a column (I17).
 */
export async function lookUpForPerson(service: Service, session: PersonSession, id: string): Promise<LookedUp> {
  const read = isApprovalId(id) ? await readApproval(service.pool, id) : undefined;
  if (!read) return { kind: "missing" };
  const { approval, now, isFrozen } = read;
  const record = await verifyRecord(service, approval);
  const receipt = approval.status === "pending" ? undefined : await checkStoredReceipt(service, approval);
  const isVerified =
    approval.status === "pending"
      ? record !== undefined
      : receipt !== undefined &&
        (record !== undefined || approval.erasedAt !== null || (await isRecordOfRevokedKey(service, approval)));
  if (!isVerified) return lookUpRevoked(service, session, approval);
  const subject = record?.sub_id ?? receipt?.sub_id;
  const via = subject && (await rightToDecide(service, session, { iss: subject.iss, sub: subject.sub }));
  return via ? { kind: "opened", opened: { approval, now, isFrozen, via, record } } : { kind: "missing" };
}

/** The approval that this person may see and act on, or undefined. */
export async function openForPerson(service: Service, session: PersonSession, id: string): Promise<Opened | undefined> {
  const lookedUp = await lookUpForPerson(service, session, id);
  return lookedUp.kind === "opened" ? lookedUp.opened : undefined;
}

async function lookUpRevoked(service: Service, session: PersonSession, approval: Approval): Promise<LookedUp> {
  const subject = await subjectByRevokedKey(service, approval);
  if (!subject)
    service.log.error({ approvalId: approval.id }, "the stored approval cannot be verified; nothing of it is shown");
  return subject && (await rightToDecide(service, session, subject)) ? { kind: "key_revoked" } : { kind: "missing" };
}
