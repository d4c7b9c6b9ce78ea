import type { Approval } from "../approvals/approval";
import { appendHourly } from "../audit/append-hourly";
import { Problem } from "../problem";
import type { Service } from "../process";

/**
 * Passes an error on, and where it says that a stored record or receipt cannot be verified, tells the operator: somebody has written the
 * database without the secret (I17). Once an hour an approval.
 */
export function recordRefusal(service: Service, { id, clientId, tool }: Approval): (error: unknown) => Promise<never> {
  return async (error) => {
    if (error instanceof Problem && error.code === "integrity_failed") {
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
