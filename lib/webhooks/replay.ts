import type { AuditActor } from "../audit/event";
import { readClock } from "../database/clock";
import { Problem } from "../problem";
import type { Service } from "../process";
import { changeEndpoint, type EndpointRow } from "./change-endpoint";

/**
 * Sends one delivery again from the start of its schedule, under the same `webhook-id`, also where it was delivered. Errors: `not_found`;
 * also where it is another endpoint's than `endpointId`; `invalid_request` where its endpoint is disabled.
 */
export async function replayDelivery(
  service: Service,
  of: { deliveryId: string; endpointId?: string },
  actor: AuditActor,
): Promise<{ deliveryId: string; endpointId: string }> {
  const { deliveryId } = of;
  const found = isDeliveryId(deliveryId)
    ? await service.prisma.webhookDelivery.findUnique({ where: { id: BigInt(deliveryId) } })
    : null;
  if (!found || (of.endpointId !== undefined && of.endpointId !== found.endpointId))
    throw new Problem("not_found", { detail: "There is no such delivery." });
  const { endpointId } = found;
  await changeEndpoint(service, endpointId, { type: "admin.webhook_replayed", actor }, async (db, row) => {
    requireEnabled(row);
    await db.query(
      `UPDATE "webhook_delivery" SET "status" = 'pending', "attempts" = 0, "lease" = NULL, "ended_at" = NULL, "next_at" = clock_timestamp()
       WHERE "id" = $1`,
      [deliveryId],
    );
    return { deliveryId, replayed: 1 };
  });
  service.outbox.ring();
  return { deliveryId, endpointId };
}

/** `since` is in, `until` out. `isAll`: also what was delivered before. */
export type ReplayRange = { since: Date; until: Date; isAll: boolean };

/**
 * Sends every event of a time range to an endpoint again that it wants and has not got: dead letters, what came while it was disabled or
 * before it was there. Returns how many deliveries were put into the queue. Errors: `not_found`; `invalid_request` where the endpoint is
 * disabled or the range is empty.
 */
export async function replayRange(
  service: Service,
  endpointId: string,
  { since, until, isAll }: ReplayRange,
  actor: AuditActor,
): Promise<{ endpointId: string; replayed: number }> {
  if (!(since < until))
    throw new Problem("invalid_request", { errors: [{ pointer: "/until", message: "must be after since" }] });
  let replayed = 0;
  await changeEndpoint(service, endpointId, { type: "admin.webhook_replayed", actor }, async (db, row) => {
    requireEnabled(row);
    const { rowCount } = await db.query(rangeSql, [endpointId, since, until, isAll]);
    replayed = rowCount ?? 0;
    return { replayed, since: since.toISOString(), until: until.toISOString() };
  });
  service.outbox.ring();
  return { endpointId, replayed };
}

/**
 * `replayRange` over all that is kept: what an endpoint has not got, however long ago. Errors: `not_found`; `invalid_request` where the
 * endpoint is disabled.
 */
export async function replayMissed(
  service: Service,
  endpointId: string,
  actor: AuditActor,
): Promise<{ endpointId: string; replayed: number }> {
  return replayRange(
    service,
    endpointId,
    { since: new Date(0), until: await readClock(service.pool), isAll: false },
    actor,
  );
}

function requireEnabled({ disabledAt }: EndpointRow): void {
  if (disabledAt !== null)
    throw new Problem("invalid_request", { detail: "The endpoint is disabled; enable it first." });
}

/** The number of a delivery, as lists show it. */
export function isDeliveryId(text: string): boolean {
  return /^[1-9][0-9]{0,17}$/.test(text);
}

const rangeSql = `
INSERT INTO "webhook_delivery" AS d ("endpoint_id", "outbox_id", "next_at", "created_at")
SELECT e."id", o."id", clock_timestamp(), clock_timestamp() FROM "webhook_endpoint" e JOIN "outbox" o ON o."client_id" = e."client_id"
WHERE e."id" = $1 AND o."at" >= $2 AND o."at" < $3 AND o."dispatched_at" IS NOT NULL AND o."type" <> 'webhook.test'
  AND (cardinality(e."events") = 0 OR o."type" = ANY(e."events"))
ON CONFLICT ("outbox_id", "endpoint_id") DO UPDATE
  SET "status" = 'pending', "attempts" = 0, "lease" = NULL, "ended_at" = NULL, "next_at" = clock_timestamp()
  WHERE d."status" = 'dead' OR ($4::boolean AND d."status" = 'delivered')`;
