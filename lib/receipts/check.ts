import { type ReceiptClaims, verifyReceipt } from "@countersign/mcp/receipt";
import type { Approval } from "../approvals/approval";
import { Problem } from "../problem";
import type { Service } from "../process";

/**
 * The claims of an approval's stored receipt where it is genuine and says what the row says, else undefined (I17): a status
 * column, another approval's receipt or a foreign key written into the database grants nothing, nor does a key that was revoked when the
 * row was read.
 */
export async function checkStoredReceipt(service: Checking, approval: Settled): Promise<ReceiptClaims | undefined> {
  const verdict = await verifyReceipt(approval.receipt, {
    issuer: service.issuer,
    audience: approval.clientId,
    keys: (kid) => service.keys.find(kid, approval.revokedKids),
    approvalId: approval.id,
    actionDigest: approval.actionDigest,
    tool: approval.tool,
    subject: approval.subject,
  });
  if (!verdict.ok && verdict.reason === "keys_unavailable") throw new Problem("unavailable");
  return verdict.ok && verdict.claims.status === approval.status ? verdict.claims : undefined;
}

type Checking = Pick<Service, "keys" | "issuer">;
type Settled = Exclude<Approval, { status: "pending" }>;
