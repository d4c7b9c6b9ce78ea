import { readApproval } from "@/lib/approvals/store";
import type { Service } from "@/lib/process";
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
