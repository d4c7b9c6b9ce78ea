/** Why a request that came as a webhook is not taken. The set is closed. */
export type WebhookErrorCode =
  /** `webhook-id`, `webhook-timestamp` or `webhook-signature` is not there, empty, or there more than once. */
  | "missing_header"
  /** `webhook-timestamp` is no whole number of seconds. */
  | "bad_timestamp"
  /** Signed with this secret, and too long ago or too far ahead: a replay, or a clock that is wrong. */
  | "stale_timestamp"
  /** No signature is one of these bytes under one of these secrets. */
  | "bad_signature"
  /** The body is no event, is too long, or was given as something else than the bytes as received. */
  | "malformed_body"
  /** The receiver's own mistake: the secret is not of the form `whsec_…`. */
  | "bad_secret";

/** A webhook that was not taken: nothing of it may be used. The message never holds a secret, a signature or the body. */
export class WebhookError extends Error {
  readonly code: WebhookErrorCode;

  constructor(code: WebhookErrorCode, message: string) {
    super(message);
    this.name = "WebhookError";
    this.code = code;
  }
}
