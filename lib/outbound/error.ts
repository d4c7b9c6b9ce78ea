/** Why a call out of this service did not end with an answer; the set is closed. */
export type OutboundCode = keyof typeof sentences;

/**
 * A call that was refused before it was made (`url_refused`, `address_refused`), or that failed. The message holds what the caller named
 * and never an address that a name led to; that stands, if at all, in `cause`, which is for logs.
 */
export class OutboundError extends Error {
  readonly code: OutboundCode;
  /** The status that the receiver had already answered when the rest of its answer failed. */
  readonly status: number | undefined;
  constructor(code: OutboundCode, options: { message?: string; cause?: unknown; status?: number | undefined } = {}) {
    super(options.message ?? sentences[code], options.cause === undefined ? {} : { cause: options.cause });
    this.name = "OutboundError";
    this.code = code;
    this.status = options.status;
  }
}

const sentences = {
  url_refused: "The URL is not one that this service calls.",
  address_refused: "The address is not public, and OUTBOUND_ALLOW does not allow it.",
  dns_failed: "The host name does not resolve.",
  connect_failed: "The host does not accept connections.",
  tls_failed: "The host offers no TLS, or a certificate that is not valid for it.",
  timeout: "The host did not answer in time.",
  reset: "The host closed the connection before its answer was complete.",
  response_too_large: "The answer is larger than is read here.",
  malformed_response: "The host answered something that is not HTTP.",
} as const;
