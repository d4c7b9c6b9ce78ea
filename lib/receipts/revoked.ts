import type { ReceiptClaims } from "@countersign/mcp/receipt";
import type { Approval, Subject } from "../approvals/approval";
import type { KeyRing } from "../keys/key-ring";
import { isSameCaller, verifyRecord } from "../records/verify";
import { checkStoredReceipt } from "./check";
import { endClaims } from "./sign";

/**
 * Whom an approval was for that cannot be verified only because a key that signed its record or its receipt was revoked since: both
 * signatures fit, and the row says what they say. Undefined where anything else is wrong, which is tampering (I17), and where no revoked key
 * signed any of it. It decides, grants and shows nothing: whoever has the key can have made all of it.
 */
export async function subjectByRevokedKey(
  { keys, issuer }: { keys: KeyRing; issuer: string },
  approval: Approval,
): Promise<Subject | undefined> {
  let isRevoked = false;
  const find: KeyRing["find"] = async (kid, revokedKids) => {
    const key = await keys.find(kid, revokedKids);
    const revoked = key ? undefined : keys.findRevoked(kid);
    isRevoked ||= revoked !== undefined;
    return key ?? revoked?.publicKey;
  };
  const tolerant = { keys: { ...keys, find }, issuer };
  const isErased = approval.record === null && approval.erasedAt !== null;
  if (!isErased && !(await verifyRecord(tolerant, approval))) return undefined;
  if (approval.status !== "pending") {
    const claims = await checkStoredReceipt(tolerant, approval);
    if (!claims || !agrees(claims, approval)) return undefined;
  }
  return isRevoked ? approval.subject : undefined;
}

/** Whether the row says of caller and end what the receipt says; the rest is compared where each of the two is verified. */
function agrees(claims: ReceiptClaims, approval: Exclude<Approval, { status: "pending" }>): boolean {
  const { decision, reason, act_by } = endClaims(approval);
  return (
    isSameCaller(claims.caller, approval.caller) &&
    claims.decision === decision &&
    claims.reason === reason &&
    claims.act_by === act_by
  );
}
