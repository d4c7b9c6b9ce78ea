import type { Service } from "../process";
import type { AttemptResult } from "./attempt";
import type { ClaimedDelivery } from "./claim";
import { disableEndpoint } from "./disable-endpoint";
import { failingMaxSeconds, nextDelaySeconds } from "./schedule";

/**
 * Writes an attempt and what follows from it: delivered; the next one, by the schedule; or a dead letter after the last. An endpoint that
 * is gone, or has failed for days, is disabled, and the operator told. A worker whose lease has run out changes nothing by a failure: it is
 * another one's by now.
 */
export async function recordAttempt(
  service: Service,
  { deliveryId, lease, attempts, endpoint }: ClaimedDelivery,
  result: AttemptResult,
  latencyMs: number,
): Promise<void> {
  const code = "statusCode" in result ? result.statusCode : null;
  const error = "error" in result ? result.error : null;
  if (result.kind === "delivered") {
    await service.pool.query({ name: "webhook-delivered", text: deliveredSql, values: [deliveryId, code, latencyMs] });
    return;
  }
  const retryAfter = "retryAfterSeconds" in result ? result.retryAfterSeconds : 0;
  const delay = result.kind === "failed" ? nextDelaySeconds(attempts, Math.random(), retryAfter) : undefined;
  const { rows } = await service.pool.query<{ failingSeconds: number }>({
    name: "webhook-failed",
    text: failedSql,
    values: [deliveryId, code, error, latencyMs, lease, delay ?? null, result.kind !== "refused"],
  });
  const { endpointId, clientId } = endpoint;
  if (result.kind === "refused")
    service.log.error(
      { endpointId, clientId, deliveryId, reason: result.error },
      "a stored endpoint or event cannot be verified; nothing is sent",
    );
  else if (result.kind === "gone") await stop(service, endpoint, "gone");
  else if ((rows[0]?.failingSeconds ?? 0) >= failingMaxSeconds) await stop(service, endpoint, "failing");
}

async function stop(
  service: Service,
  { endpointId, clientId }: ClaimedDelivery["endpoint"],
  reason: "gone" | "failing",
): Promise<void> {
  const { changed } = await disableEndpoint(service, endpointId, { kind: "service" }, reason);
  if (changed)
    service.log.error({ endpointId, clientId, reason }, "an endpoint is disabled; its events wait as dead letters");
}

const attemptedSql = (error: string, latency: string) =>
  `INSERT INTO "webhook_attempt" ("delivery_id", "at", "status_code", "error", "latency_ms")
   SELECT "id", clock_timestamp() - make_interval(secs => ${latency} / 1000.0), $2::int, ${error}, ${latency}
   FROM "webhook_delivery" WHERE "id" = $1`;

// Delivered is delivered, whoever holds the lease by now, and also where somebody has just given the endpoint up.
const deliveredSql = `
WITH tried AS (${attemptedSql("NULL", "$3::int")}),
done AS (
  UPDATE "webhook_delivery" SET "status" = 'delivered', "lease" = NULL, "ended_at" = clock_timestamp()
  WHERE "id" = $1 AND "status" <> 'delivered' RETURNING "endpoint_id")
UPDATE "webhook_endpoint" e SET "failing_since" = NULL FROM done WHERE e."id" = done."endpoint_id" AND e."failing_since" IS NOT NULL`;

const failedSql = `
WITH tried AS (${attemptedSql("$3", "$4::int")}),
held AS (
  UPDATE "webhook_delivery" SET "lease" = NULL,
    "status" = CASE WHEN $6::float8 IS NULL THEN 'dead' ELSE 'pending' END,
    "ended_at" = CASE WHEN $6::float8 IS NULL THEN clock_timestamp() END,
    "next_at" = clock_timestamp() + make_interval(secs => coalesce($6::float8, 0))
  WHERE "id" = $1 AND "lease" = $5 RETURNING "endpoint_id")
UPDATE "webhook_endpoint" e SET "failing_since" = coalesce(e."failing_since", clock_timestamp()) FROM held
WHERE e."id" = held."endpoint_id" AND $7::boolean
RETURNING extract(epoch FROM clock_timestamp() - e."failing_since")::float8 AS "failingSeconds"`;
