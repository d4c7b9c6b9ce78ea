import { type OutboundCode, OutboundError } from "../outbound/error";
import { requestOutbound } from "../outbound/request";
import type { Service } from "../process";
import type { ClaimedDelivery } from "./claim";
import { openEndpoint } from "./endpoint";
import { eventBody, eventIdOf } from "./event";
import { isGenuineEvent } from "./genuine";
import { recordAttempt } from "./record-attempt";
import { retryAfterSeconds } from "./schedule";
import { signatureHeader } from "./sign";

/** Standard Webhooks 1.0 proposes 15 to 30 s. */
const attemptTimeoutMs = 15_000;

/** What came of one POST. `refused`: the endpoint's row or the event is not authentic, so nothing was sent, nor will it be. */
export type AttemptResult =
  | { kind: "delivered"; statusCode: number }
  | { kind: "failed"; statusCode: number; retryAfterSeconds: number }
  | { kind: "failed"; error: OutboundCode }
  | { kind: "gone"; statusCode: 410 }
  | { kind: "refused"; error: "endpoint_not_authentic" | "event_not_authentic" };

/**
 * Sends a claimed delivery once and writes down what came of it: status and latency, never the body of the answer. 2xx is delivered, 410
 * ends the endpoint, everything else (a redirect too) is tried again by the schedule. Errors: those of the database, and `unavailable`
 * without signing keys; then the lease runs out and it is tried again.
 */
export async function attemptDelivery(service: Service, claimed: ClaimedDelivery): Promise<AttemptResult> {
  const startedAt = performance.now();
  const { event, attempts } = claimed;
  const attributes = {
    "countersign.event.type": event.type,
    "http.request.resend_count": attempts - 1,
    ...(event.approvalId === null ? {} : { "countersign.approval.id": event.approvalId }),
  };
  const result = await service.traces.span(
    "webhook attempt",
    { kind: "client", parent: event.traceContext, attributes },
    async () => {
      const sent = await send(service, claimed);
      service.traces.note(attributesOf(sent));
      return sent;
    },
  );
  const latencyMs = performance.now() - startedAt;
  service.metrics.observeAttempt(result.kind, latencyMs / 1000);
  await recordAttempt(service, claimed, result, Math.round(latencyMs));
  return result;
}

/** A status, and why it is no success (OpenTelemetry, "HTTP client span"). */
function attributesOf(result: AttemptResult): Record<string, string | number> {
  if ("error" in result) return { "error.type": result.error };
  const status = { "http.response.status_code": result.statusCode };
  return result.kind === "delivered" ? status : { ...status, "error.type": String(result.statusCode) };
}

async function send(service: Service, { endpoint, event }: ClaimedDelivery): Promise<AttemptResult> {
  const secrets = await signingSecrets(service, endpoint);
  if (secrets.length === 0) return { kind: "refused", error: "endpoint_not_authentic" };
  if (!(await isGenuineEvent(service, event))) return { kind: "refused", error: "event_not_authentic" };
  const body = eventBody(event);
  const id = eventIdOf(event.eventUuid);
  const timestamp = Math.floor(Date.now() / 1000);
  const traceparent = service.traces.current();
  try {
    const response = await requestOutbound(service.config.outbound, {
      url: endpoint.url,
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": "Countersign-Webhooks/1",
        "webhook-id": id,
        "webhook-timestamp": String(timestamp),
        "webhook-signature": signatureHeader(secrets, { id, timestamp, body }),
        ...(traceparent === null ? {} : { traceparent }),
      },
      body,
      timeoutMs: attemptTimeoutMs,
      // Read past, so that its headers count also where an explanation comes along; never kept.
      maxBytes: 65_536,
      keepBody: false,
    });
    return resultOf(response.status, response.headers["retry-after"]);
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    // The status is the answer; whatever became of a body that nobody reads.
    return error.status === undefined ? { kind: "failed", error: error.code } : resultOf(error.status, undefined);
  }
}

function resultOf(statusCode: number, retryAfter: string | string[] | undefined): AttemptResult {
  if (statusCode >= 200 && statusCode < 300) return { kind: "delivered", statusCode };
  if (statusCode === 410) return { kind: "gone", statusCode };
  const header = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter;
  return { kind: "failed", statusCode, retryAfterSeconds: retryAfterSeconds(header, new Date()) };
}

/** The newest first. The one before it counts only beside a genuine newest. */
async function signingSecrets(
  { secrets }: Service,
  { secretJwe, previousSecretJwe, endpointId, clientId, url }: ClaimedDelivery["endpoint"],
): Promise<string[]> {
  const row = { endpointId, clientId, url };
  const current = await openEndpoint(secrets, row, secretJwe);
  if (current === undefined) return [];
  const previous = previousSecretJwe === null ? undefined : await openEndpoint(secrets, row, previousSecretJwe);
  return previous === undefined ? [current] : [current, previous];
}
