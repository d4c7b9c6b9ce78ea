/**
 * An event as it is sent: the body of the POST, the same for every endpoint, attempt and replay (Standard Webhooks 1.0, "payload
 * structure"). Thin: what happened, and the receipt; never an argument value (I9). Under 20 KB: a receipt that would not fit is left out,
 * for the receiver reads the approval again anyway.
 */
export function eventBody(event: StoredEvent): string {
  const { receipt, ...rest } = event.data;
  const of = {
    clientId: event.clientId,
    ...(event.approvalId === null ? {} : { approvalId: event.approvalId, approvalSeq: event.approvalSeq }),
  };
  const bodyOf = (data: object) => JSON.stringify({ type: event.type, timestamp: event.at.toISOString(), data });
  const whole = bodyOf({ ...of, ...rest, ...(receipt === undefined ? {} : { receipt }) });
  return Buffer.byteLength(whole) < bodyMaxBytes ? whole : bodyOf({ ...of, ...rest });
}

const bodyMaxBytes = 20_000;

/** What an endpoint can ask for. `webhook.test` is sent on demand, whatever it asked for. */
export const eventTypes = [
  "approval.accepted",
  "approval.declined",
  "approval.cancelled",
  "approval.expired",
  "approval.withdrawn",
  "approval.lapsed",
  "approval.consumed",
  "approval.outcome",
  "client.frozen",
  "client.unfrozen",
] as const;
export type EventType = (typeof eventTypes)[number];

/** An event as the outbox holds it. Its row is not trusted (I17): `isGenuineEvent` looks before it is signed. */
export type StoredEvent = {
  /** UUID; what receivers see is `eventIdOf` it. */
  eventUuid: string;
  at: Date;
  type: string;
  clientId: string;
  approvalId: string | null;
  approvalSeq: number | null;
  data: Record<string, unknown>;
  traceContext: string | null;
};

/** `webhook-id`: `evt_` and the UUID's 128 bits as 26 lower-case Crockford base32 characters. */
export function eventIdOf(uuid: string): string {
  const bits = BigInt(`0x${uuid.replaceAll("-", "")}`);
  const characters = Array.from({ length: 26 }, (_, i) => alphabet[Number((bits >> BigInt(5 * (25 - i))) & 31n)]);
  return `evt_${characters.join("")}`;
}

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
