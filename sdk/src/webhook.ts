import { WebhookError, type WebhookErrorCode } from "./webhook/error";
import {
  type ApprovalEvent,
  type FreezeEvent,
  readEvent,
  type TestEvent,
  type UnknownEvent,
  type WebhookEvent,
} from "./webhook/event";
import { readSignedHeaders, type WebhookHeaders } from "./webhook/headers";
import { createNewsMemory, type News, type NewsStore, newerOnly } from "./webhook/news";
import { isSignedBy, keysOf } from "./webhook/signature";

export {
  type ApprovalEvent,
  createNewsMemory,
  type FreezeEvent,
  type News,
  type NewsStore,
  newerOnly,
  type TestEvent,
  type UnknownEvent,
  WebhookError,
  type WebhookErrorCode,
  type WebhookEvent,
  type WebhookHeaders,
};

export type WebhookRequest = {
  /** The bytes of the body as they came, at most 65536, or their text; never what a JSON parser made of them. */
  body: string | Uint8Array;
  headers: WebhookHeaders;
  /** `whsec_…` of the endpoint; several while one takes the place of another. */
  secret: string | readonly string[];
  /** How far the attempt's instant may be from the clock here, both ways: 1…3600, default 300. */
  toleranceSeconds?: number;
  /** Milliseconds since 1970; default `Date.now`. */
  now?: () => number;
};

/** Events are under 20 KB. */
const MAX_BODY_BYTES = 65_536;

/**
 * The event in a webhook, once its signature, its age and its form are verified (Standard Webhooks 1.0, `v1`: HMAC-SHA256). An event says that
 * something happened and gives no right to run anything; types that are not known come as `kind: "unknown"`.
 * @throws WebhookError with a `code` of the closed set; RangeError for a tolerance outside its bounds
 */
export function verifyWebhook(request: WebhookRequest): WebhookEvent {
  const { headers, secret, toleranceSeconds = 300, now = Date.now } = request;
  if (!(toleranceSeconds >= 1 && toleranceSeconds <= 3600))
    throw new RangeError("toleranceSeconds must be within 1…3600");
  const keys = keysOf(secret);
  const { id, timestamp, signatures } = readSignedHeaders(headers);
  const body = bytesOf(request.body);
  if (!isSignedBy(keys, signatures, { id, timestamp, body }))
    throw new WebhookError(
      "bad_signature",
      "No signature fits. Either the secret is not that of this endpoint, or the body is not as it was sent: it must be the raw bytes, and a JSON parser, a decompressor or a proxy in front has changed it.",
    );
  // Judged after the signature, so that this code always means: Countersign has signed it.
  const ageSeconds = Math.floor(now() / 1000) - Number(timestamp);
  if (Math.abs(ageSeconds) > toleranceSeconds)
    throw new WebhookError(
      "stale_timestamp",
      `It was sent ${Math.abs(ageSeconds)} s ${ageSeconds > 0 ? "ago" : "ahead"}, and ${toleranceSeconds} s are allowed: a replay, or one of the two clocks is wrong.`,
    );
  const event = readEvent(id, objectIn(body));
  if (typeof event === "string") throw malformed(`The event is not of the form that its type demands, at ${event}.`);
  return event;
}

function bytesOf(body: unknown): Uint8Array {
  if (typeof body !== "string" && !(body instanceof Uint8Array))
    throw malformed(
      "The body must be the raw bytes or text of the request: a JSON parser in front has made something else of it.",
    );
  // A text has at most as many characters as bytes.
  const isTooLong =
    body.length > MAX_BODY_BYTES || (typeof body === "string" && Buffer.byteLength(body) > MAX_BODY_BYTES);
  if (isTooLong) throw malformed(`The body is longer than ${MAX_BODY_BYTES} bytes; no event of Countersign is.`);
  return typeof body === "string" ? Buffer.from(body) : body;
}

function objectIn(body: Uint8Array): object {
  let json: unknown;
  try {
    // Neither replaces what is not UTF-8 nor drops a byte order mark, which JSON on the wire must not have (RFC 8259 section 8.1).
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
    json = JSON.parse(text, withoutPrototype);
  } catch {
    throw malformed("The body is signed, and it is not the JSON of an event.");
  }
  if (typeof json !== "object" || json === null) throw malformed("The body is no JSON object.");
  return json;
}

/** Whoever copies such a member into an object of theirs changes its prototype. */
function withoutPrototype(name: string, value: unknown): unknown {
  if (name === "__proto__") throw new TypeError("__proto__");
  return value;
}

const malformed = (message: string) => new WebhookError("malformed_body", message);
