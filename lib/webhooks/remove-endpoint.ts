import type { AuditActor } from "../audit/event";
import type { Service } from "../process";
import { changeEndpoint } from "./change-endpoint";

/** Forgets an endpoint with its deliveries and their attempts; the history keeps that it was there. Errors: `not_found`. */
export function removeEndpoint(
  service: Service,
  endpointId: string,
  actor: AuditActor,
): Promise<{ endpointId: string; changed: boolean }> {
  return changeEndpoint(service, endpointId, { type: "admin.webhook_removed", actor }, async (db) => {
    await db.query(`DELETE FROM "webhook_endpoint" WHERE "id" = $1`, [endpointId]);
    return {};
  });
}
