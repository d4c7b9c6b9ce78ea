import { randomUUID } from "node:crypto";
import type { AuditActor } from "../audit/event";
import { Problem } from "../problem";
import type { Service } from "../process";
import { type AttemptResult, attemptDelivery } from "./attempt";
import { changeEndpoint } from "./change-endpoint";
import { type ClaimedDelivery, leaseSeconds } from "./claim";

/**
 * Sends a `webhook.test` to one endpoint now and tells what came of it; where it fails it is tried again like any other. Errors:
 * `not_found`; `invalid_request` where the endpoint is disabled.
 */
export async function sendTestEvent(
  service: Service,
  endpointId: string,
  actor: AuditActor,
): Promise<{ deliveryId: string; result: AttemptResult }> {
  let claimed: ClaimedDelivery | undefined;
  await changeEndpoint(service, endpointId, { type: "admin.webhook_tested", actor }, async (db, row) => {
    if (row.disabledAt !== null) throw new Problem("invalid_request", { detail: "The endpoint is disabled." });
    const { rows } = await db.query<ClaimedDelivery["event"] & ClaimedDelivery["endpoint"] & TestRow>(testSql, [
      endpointId,
      randomUUID(),
      leaseSeconds,
    ]);
    if (!rows[0]) throw new Error("the test event was not written");
    const { deliveryId, lease, url, secretJwe, previousSecretJwe, ...event } = rows[0];
    const endpoint = { endpointId, clientId: row.clientId, url, secretJwe, previousSecretJwe };
    claimed = { deliveryId, lease, attempts: 1, endpoint, event };
    return {};
  });
  if (!claimed) throw new Error("the test event was not written");
  return { deliveryId: claimed.deliveryId, result: await attemptDelivery(service, claimed) };
}

type TestRow = { deliveryId: string; lease: string };

const testSql = `
WITH event AS (
  INSERT INTO "outbox" ("at", "type", "client_id", "data", "dispatched_at")
  SELECT clock_timestamp(), 'webhook.test', "client_id", jsonb_build_object('endpointId', "id"), clock_timestamp()
  FROM "webhook_endpoint" WHERE "id" = $1 RETURNING *),
delivery AS (
  INSERT INTO "webhook_delivery" ("endpoint_id", "outbox_id", "attempts", "next_at", "lease", "created_at")
  SELECT $1, "id", 1, clock_timestamp() + make_interval(secs => $3), $2, clock_timestamp() FROM event RETURNING *)
SELECT d."id"::text AS "deliveryId", d."lease", e."url", e."secret_jwe" AS "secretJwe",
  CASE WHEN e."previous_until" > clock_timestamp() THEN e."previous_secret_jwe" END AS "previousSecretJwe",
  o."event_id" AS "eventUuid", o."at", o."type", o."client_id" AS "clientId", o."approval_id" AS "approvalId",
  o."approval_seq" AS "approvalSeq", o."data", o."trace_context" AS "traceContext"
FROM delivery d JOIN event o ON o."id" = d."outbox_id" JOIN "webhook_endpoint" e ON e."id" = d."endpoint_id"`;
