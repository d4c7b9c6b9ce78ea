import type pg from "pg";
import type { DisabledReason } from "./endpoint";

export type ListedEndpoint = {
  endpointId: string;
  clientId: string;
  clientName: string;
  url: string;
  /** Empty: every event. */
  events: string[];
  createdAt: Date;
  disabledAt: Date | null;
  disabledReason: DisabledReason | null;
  failingSince: Date | null;
  /** Until when the secret before signs beside the new one. */
  previousUntil: Date | null;
  pending: number;
  dead: number;
};

/** Every endpoint, or those of one client, or the one of this id; the oldest first. Never a secret. */
export async function listEndpoints(
  db: Pick<pg.Pool, "query">,
  filter: { clientId?: string; endpointId?: string } = {},
): Promise<ListedEndpoint[]> {
  const { clientId, endpointId } = filter;
  // PostgreSQL cannot be asked for it.
  if ([clientId, endpointId].some((id) => id?.includes("\u0000"))) return [];
  const { rows } = await db.query<ListedEndpoint>(listSql, [clientId ?? null, endpointId ?? null]);
  return rows;
}

const listSql = `
SELECT e."id" AS "endpointId", e."client_id" AS "clientId", c."name" AS "clientName", e."url", e."events", e."created_at" AS "createdAt",
  e."disabled_at" AS "disabledAt", e."disabled_reason" AS "disabledReason", e."failing_since" AS "failingSince",
  CASE WHEN e."previous_until" > clock_timestamp() THEN e."previous_until" END AS "previousUntil",
  (SELECT count(*)::int FROM "webhook_delivery" d WHERE d."endpoint_id" = e."id" AND d."status" = 'pending') AS "pending",
  (SELECT count(*)::int FROM "webhook_delivery" d WHERE d."endpoint_id" = e."id" AND d."status" = 'dead') AS "dead"
FROM "webhook_endpoint" e JOIN "client" c ON c."id" = e."client_id"
WHERE ($1::text IS NULL OR e."client_id" = $1) AND ($2::text IS NULL OR e."id" = $2) ORDER BY e."created_at", e."id"`;
