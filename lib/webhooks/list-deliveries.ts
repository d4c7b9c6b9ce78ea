import type pg from "pg";
import { eventIdOf } from "./event";

export type DeliveryStatus = "pending" | "delivered" | "dead";

export type ListedDelivery = {
  deliveryId: string;
  eventId: string;
  type: string;
  approvalId: string | null;
  at: Date;
  status: DeliveryStatus;
  attempts: number;
  /** While pending: when it is tried next. */
  nextAt: Date | null;
  /** The newest attempt. */
  lastAt: Date | null;
  statusCode: number | null;
  error: string | null;
  latencyMs: number | null;
};

/** Deliveries of an endpoint, the newest first, with the newest attempt of each; those before the delivery `before`. */
export async function listDeliveries(
  db: Pick<pg.Pool, "query">,
  of: { endpointId: string; status?: DeliveryStatus; before?: string; limit: number },
): Promise<ListedDelivery[]> {
  const { endpointId, status, before, limit } = of;
  const { rows } = await db.query<ListedDelivery & { eventUuid: string }>(listSql, [
    endpointId,
    status ?? null,
    before ?? null,
    limit,
  ]);
  return rows.map(({ eventUuid, ...row }) => ({ ...row, eventId: eventIdOf(eventUuid) }));
}

export type ListedAttempt = { at: Date; statusCode: number | null; error: string | null; latencyMs: number };

/** Every attempt of a delivery, the oldest first. */
export async function listAttempts(db: Pick<pg.Pool, "query">, deliveryId: string): Promise<ListedAttempt[]> {
  const { rows } = await db.query<ListedAttempt>(
    `SELECT "at", "status_code" AS "statusCode", "error", "latency_ms" AS "latencyMs" FROM "webhook_attempt"
     WHERE "delivery_id" = $1 ORDER BY "id"`,
    [deliveryId],
  );
  return rows;
}

const listSql = `
SELECT d."id"::text AS "deliveryId", o."event_id" AS "eventUuid", o."type", o."approval_id" AS "approvalId", o."at", d."status", d."attempts",
  CASE WHEN d."status" = 'pending' THEN d."next_at" END AS "nextAt", t."at" AS "lastAt", t."status_code" AS "statusCode", t."error",
  t."latency_ms" AS "latencyMs"
FROM "webhook_delivery" d JOIN "outbox" o ON o."id" = d."outbox_id"
  LEFT JOIN LATERAL (SELECT * FROM "webhook_attempt" WHERE "delivery_id" = d."id" ORDER BY "id" DESC LIMIT 1) t ON true
WHERE d."endpoint_id" = $1 AND ($2::text IS NULL OR d."status" = $2) AND ($3::bigint IS NULL OR d."id" < $3) ORDER BY d."id" DESC LIMIT $4`;
