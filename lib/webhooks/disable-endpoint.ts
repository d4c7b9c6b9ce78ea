import type pg from "pg";
import type { AuditActor } from "../audit/event";
import type { Service } from "../process";
import { changeEndpoint } from "./change-endpoint";
import type { DisabledReason } from "./endpoint";

/**
 * Stops an endpoint: nothing is sent to it and nothing is kept for it from now on; what was waiting becomes a dead letter, which can be
 * replayed. `changed` is false where it was stopped before. Errors: `not_found`.
 */
export function disableEndpoint(
  service: Service,
  endpointId: string,
  actor: AuditActor,
  reason: DisabledReason = "admin",
): Promise<{ endpointId: string; changed: boolean }> {
  return changeEndpoint(service, endpointId, { type: "admin.webhook_disabled", actor }, async (db, row) => {
    if (row.disabledAt !== null) return undefined;
    await db.query(
      `UPDATE "webhook_endpoint" SET "disabled_at" = clock_timestamp(), "disabled_reason" = $2 WHERE "id" = $1`,
      [endpointId, reason],
    );
    return { reason, dead: await buryPending(db, endpointId) };
  });
}

/** Lets an endpoint have the events from now on. Errors: `not_found`. */
export function enableEndpoint(
  service: Service,
  endpointId: string,
  actor: AuditActor,
): Promise<{ endpointId: string; changed: boolean }> {
  return changeEndpoint(service, endpointId, { type: "admin.webhook_enabled", actor }, async (db, row) => {
    if (row.disabledAt === null) return undefined;
    await db.query(
      `UPDATE "webhook_endpoint" SET "disabled_at" = NULL, "disabled_reason" = NULL, "failing_since" = NULL WHERE "id" = $1`,
      [endpointId],
    );
    return {};
  });
}

async function buryPending(db: pg.PoolClient, endpointId: string): Promise<number> {
  const { rowCount } = await db.query(
    `UPDATE "webhook_delivery" SET "status" = 'dead', "lease" = NULL, "ended_at" = clock_timestamp()
     WHERE "endpoint_id" = $1 AND "status" = 'pending'`,
    [endpointId],
  );
  return rowCount ?? 0;
}
