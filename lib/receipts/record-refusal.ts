import type { Approval } from "../approvals/approval";
import { appendHourly } from "../audit/append-hourly";
import { Problem } from "../problem";
import type { Service } from "../process";
import { subjectByRevokedKey } from "./revoked";

/**
 * Passes an error on, and where it says that a stored record or receipt cannot be verified, tells the operator: somebody has written the
 * database without the secret (I17). Once an hour an approval. What a key signed that was revoked since is refused as well, and said to be
 * that: nobody has tampered with it.
 */
export function recordRefusal(service: Service, approval: Approval): (error: unknown) => Promise<never> {
  const { id, clientId, tool } = approval;
  return async (error) => {
    if (error instanceof Problem && error.code === "integrity_failed") {
      if (await subjectByRevokedKey(service, approval))
        throw new Problem("integrity_failed", {
          detail: "The key that signed this was revoked, so it proves nothing any more. Nothing is granted.",
        });
      const isNew = await appendHourly(service.pool, {
        type: "approval.receipt_refused",
        approvalId: id,
        clientId,
        tool,
        actor: { kind: "service" },
      });
      if (isNew)
        service.log.error({ approvalId: id }, "a stored record or receipt cannot be verified; nothing is granted");
    }
    throw error;
  };
}
