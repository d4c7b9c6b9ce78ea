import type { AuditActor } from "../audit/event";
import type { Service } from "../process";
import { changeEndpoint } from "./change-endpoint";
import { sealEndpoint } from "./endpoint";
import { newWebhookSecret } from "./sign";

/** How long the secret before signs beside the new one, where nothing else was asked for. */
const overlapDefaultSeconds = 24 * 3600;

/**
 * Gives an endpoint a new secret, told this once. For `overlapSeconds` (0: not at all, where the old one has leaked) every delivery carries
 * a signature by each, so the receiver can change over at leisure. Errors: `not_found`.
 */
export async function rotateWebhookSecret(
  service: Service,
  endpointId: string,
  actor: AuditActor,
  overlapSeconds = overlapDefaultSeconds,
): Promise<{ endpointId: string; secret: string }> {
  const secret = newWebhookSecret();
  await changeEndpoint(service, endpointId, { type: "admin.webhook_secret_rotated", actor }, async (db, row) => {
    const { clientId, url } = row;
    await db.query(
      `UPDATE "webhook_endpoint" SET "secret_jwe" = $2,
         "previous_secret_jwe" = CASE WHEN $3 > 0 THEN "secret_jwe" END,
         "previous_until" = CASE WHEN $3 > 0 THEN clock_timestamp() + make_interval(secs => $3) END WHERE "id" = $1`,
      [endpointId, await sealEndpoint(service.secrets, { endpointId, clientId, url, secret }), overlapSeconds],
    );
    return { overlapSeconds };
  });
  return { endpointId, secret };
}
