import { RECEIPT_TYP } from "@countersign/mcp/receipt";
import { readApproval } from "@/lib/approvals/store";
import { signClaims } from "@/lib/keys/sign-claims";
import type { Service } from "@/lib/process";
import { checkStoredReceipt } from "@/lib/receipts/check";
import { rfc3339 } from "@/lib/receipts/sign";
import { signRecord } from "@/lib/records/sign";
import { verifyRecord } from "@/lib/records/verify";

/**
 * Moves the deadline of an approval to `seconds` from now, as if it had been asked for so long: the record is signed anew, since a row
 * alone that says another deadline is refused. Whole seconds, so up to one less.
 */
export async function expireIn(service: Service, approvalId: string, seconds: number): Promise<void> {
  const read = await readApproval(service.pool, approvalId);
  const claims = read && (await verifyRecord(service, read.approval));
  if (!read || !claims) throw new Error("the approval is not there, or not whole");
  const exp = Math.floor(read.now.getTime() / 1000) + seconds;
  const record = await signRecord(service.keys, { ...claims, exp });
  await service.pool.query(`UPDATE "approval" SET "record" = $2, "expires_at" = to_timestamp($3) WHERE "id" = $1`, [
    approvalId,
    record,
    exp,
  ]);
}

/** Moves an acceptance into the past, so that its act-by was a second ago: the receipt is signed anew, as for a deadline. */
export async function lapseNow(service: Service, approvalId: string): Promise<void> {
  const read = await readApproval(service.pool, approvalId);
  if (read?.approval.status !== "accepted") throw new Error("the approval is not accepted");
  const actBy = new Date(Math.floor(read.now.getTime() / 1000) * 1000 - 1_000);
  const decidedAt = new Date(actBy.getTime() - read.approval.actBySeconds * 1000);
  const claims = await checkStoredReceipt(service, read.approval);
  const moved = { ...claims, act_by: rfc3339(actBy), decided_at: rfc3339(decidedAt) };
  const receipt = await signClaims(service.keys, RECEIPT_TYP, moved);
  await service.pool.query(`UPDATE "approval" SET "act_by" = $2, "decided_at" = $3, "receipt" = $4 WHERE "id" = $1`, [
    approvalId,
    actBy,
    decidedAt,
    receipt,
  ]);
}
