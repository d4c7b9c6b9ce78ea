import { WebhookError } from "./error";

/** Headers as a server gives them: Web `Headers`, or an object such as `req.headers` of Node. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export type SignedHeaders = { id: string; timestamp: string; signatures: readonly string[] };

/** No full stop, which parts what is signed; no comma or space, which a header has that came twice and was joined. */
const ID = /^[\w-]{1,255}$/;
const SECONDS = /^(?:0|[1-9]\d{0,11})$/;
const MAX_SIGNATURE_LENGTH = 8192;

/**
 * Reads the three headers of Standard Webhooks 1.0. Each must be there once, whatever the case of its name.
 * @throws WebhookError `missing_header`, `bad_timestamp` or `bad_signature`
 */
export function readSignedHeaders(headers: WebhookHeaders): SignedHeaders {
  const id = only(headers, "webhook-id");
  const timestamp = only(headers, "webhook-timestamp");
  const signature = valuesOf(headers, "webhook-signature").join(" ");
  if (!ID.test(id)) throw missing("webhook-id", "is empty, was sent twice, or is no id of an event");
  if (!SECONDS.test(timestamp))
    throw new WebhookError("bad_timestamp", "The header webhook-timestamp is no whole number of seconds since 1970.");
  if (signature.trim() === "") throw missing("webhook-signature", "is not there");
  if (signature.length > MAX_SIGNATURE_LENGTH)
    throw new WebhookError("bad_signature", "The header webhook-signature is longer than any sender makes it.");
  return { id, timestamp, signatures: signature.split(" ") };
}

function only(headers: WebhookHeaders, name: string): string {
  const [value, ...others] = valuesOf(headers, name);
  if (value === undefined) throw missing(name, "is not there");
  if (others.length > 0) throw missing(name, "was sent twice");
  return value;
}

/** Own members alone: what somebody put on a prototype is no header. */
function valuesOf(headers: WebhookHeaders, name: string): string[] {
  if (isHeaders(headers)) return [headers.get(name) ?? []].flat();
  return Object.entries(headers)
    .filter(([key]) => key.toLowerCase() === name)
    .flatMap(([, value]) => value ?? [])
    .filter((value) => typeof value === "string");
}

/** By what it can do and not by its class, of which there is one in each copy of a fetch library. */
function isHeaders(headers: WebhookHeaders): headers is { get(name: string): string | null } {
  return typeof headers.get === "function";
}

function missing(name: string, what: string): WebhookError {
  return new WebhookError(
    "missing_header",
    `The header ${name} ${what}. If Countersign has sent this, something in front of the server drops or doubles headers.`,
  );
}
