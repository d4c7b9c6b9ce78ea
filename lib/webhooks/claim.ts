import { randomUUID } from "node:crypto";
import type pg from "pg";
import type { StoredEvent } from "./event";

/** Deliveries that one process sends to one endpoint at a time, and to all together: one that hangs must not hold up the others. */
export const inFlightMax = { perEndpoint: 5, total: 50 } as const;

/** A claimed delivery is another worker's after this long, should its own be gone; longer than an attempt can last. */
export const leaseSeconds = 60;

/** A delivery to be attempted now, by whoever holds `lease`. `attempts` counts this one. */
export type ClaimedDelivery = {
  deliveryId: string;
  lease: string;
  attempts: number;
  endpoint: {
    endpointId: string;
    clientId: string;
    url: string;
    secretJwe: string;
    /** Null where there is none, or its time is over. */
    previousSecretJwe: string | null;
  };
  event: StoredEvent;
};

/**
 * Takes deliveries that are due, those due the longest first, no endpoint more than its share. `busy` counts what this process is sending
 * already, by endpoint. The lease is a row, not a transaction: nothing is held open while the receiver takes its time.
 */
export async function claimDeliveries(
  pool: Pick<pg.Pool, "query">,
  busy: ReadonlyMap<string, number>,
): Promise<ClaimedDelivery[]> {
  const inFlight = [...busy.values()].reduce((sum, count) => sum + count, 0);
  const free = inFlightMax.total - inFlight;
  if (free <= 0) return [];
  const { rows } = await pool.query<ClaimRow>({
    name: "webhook-claim",
    text: claimSql,
    values: [free, inFlightMax.perEndpoint, [...busy.keys()], [...busy.values()], randomUUID(), leaseSeconds],
  });
  return rows.map(fromRow);
}

type ClaimRow = Omit<ClaimedDelivery, "endpoint" | "event"> & ClaimedDelivery["endpoint"] & StoredEvent;

function fromRow({ deliveryId, lease, attempts, ...row }: ClaimRow): ClaimedDelivery {
  const { endpointId, clientId, url, secretJwe, previousSecretJwe, ...event } = row;
  return {
    deliveryId,
    lease,
    attempts,
    endpoint: { endpointId, clientId, url, secretJwe, previousSecretJwe },
    event: { ...event, clientId },
  };
}

// Endpoint by endpoint, each along its own part of the index, so that a long queue of one is never read for the sake of another. By the clock of
// the statement's beginning: an index can be cut off at an instant that stays, not at `clock_timestamp()`.
export const claimSql = `
WITH due AS MATERIALIZED (
  SELECT d."id" FROM "webhook_endpoint" e
    LEFT JOIN unnest($3::text[], $4::int[]) AS busy("endpoint_id", "count") ON busy."endpoint_id" = e."id"
    CROSS JOIN LATERAL (SELECT "id", "next_at" FROM "webhook_delivery" WHERE "endpoint_id" = e."id" AND "status" = 'pending'
      AND "next_at" <= statement_timestamp() ORDER BY "next_at" LIMIT greatest(0, $2::int - coalesce(busy."count", 0)) FOR UPDATE SKIP LOCKED) d
  WHERE e."disabled_at" IS NULL ORDER BY d."next_at" LIMIT $1),
claimed AS (
  UPDATE "webhook_delivery" d SET "lease" = $5, "attempts" = d."attempts" + 1, "next_at" = clock_timestamp() + make_interval(secs => $6)
  FROM due WHERE d."id" = due."id" RETURNING d."id", d."lease", d."attempts", d."endpoint_id", d."outbox_id")
SELECT c."id"::text AS "deliveryId", c."lease", c."attempts", e."id" AS "endpointId", e."client_id" AS "clientId", e."url",
  e."secret_jwe" AS "secretJwe", CASE WHEN e."previous_until" > clock_timestamp() THEN e."previous_secret_jwe" END AS "previousSecretJwe",
  o."event_id" AS "eventUuid", o."at", o."type", o."approval_id" AS "approvalId", o."approval_seq" AS "approvalSeq", o."data",
  o."trace_context" AS "traceContext"
FROM claimed c JOIN "webhook_endpoint" e ON e."id" = c."endpoint_id" JOIN "outbox" o ON o."id" = c."outbox_id"`;
