/**
 * The closed set of reasons for which a request is refused. `status` is the HTTP status, `title` is fixed per code;
 * `docs/api.md` says for each when it happens and what to do, and a test holds the two lists equal.
 */
export const problems = {
  malformed_json: { status: 400, title: "The body is not JSON" },
  invalid_request: { status: 400, title: "The request is not of the described form" },
  unauthorized: { status: 401, title: "No valid API key" },
  missing_scope: { status: 403, title: "The API key lacks the scope" },
  tool_not_allowed: { status: 403, title: "This tool is not allowed" },
  issuer_not_allowed: { status: 403, title: "This issuer is not allowed" },
  frozen: { status: 403, title: "Frozen" },
  forbidden_origin: { status: 403, title: "The request did not come from our own page" },
  stale_form: { status: 403, title: "This form is no longer valid; load the page again" },
  not_found: { status: 404, title: "Not found" },
  method_not_allowed: { status: 405, title: "Method not allowed" },
  recently_declined: { status: 409, title: "The person declined this a moment ago" },
  already_decided: { status: 409, title: "Already decided" },
  not_accepted: { status: 409, title: "Not accepted" },
  already_consumed: { status: 409, title: "Already consumed" },
  action_mismatch: { status: 409, title: "Not the action that was approved" },
  caller_mismatch: { status: 409, title: "Not the caller that asked" },
  stale: { status: 409, title: "The preconditions have changed" },
  lapsed: { status: 409, title: "Approved, but not used in time" },
  integrity_failed: { status: 409, title: "The stored approval cannot be verified" },
  not_consumed: { status: 409, title: "Nothing was consumed" },
  consumer_mismatch: { status: 409, title: "Not the attempt that consumed" },
  outcome_already_reported: { status: 409, title: "The outcome is already known" },
  body_too_large: { status: 413, title: "The body is too large" },
  unsupported_media_type: { status: 415, title: "The body must be application/json" },
  number_not_exact: { status: 422, title: "A number cannot be kept exactly" },
  duplicate_key: { status: 422, title: "A key stands twice" },
  forbidden_key: { status: 422, title: "A key is not allowed" },
  nul_character: { status: 422, title: "U+0000 is not allowed" },
  lone_surrogate: { status: 422, title: "A lone surrogate is not allowed" },
  too_deep: { status: 422, title: "Nested too deeply" },
  arguments_too_large: { status: 422, title: "The arguments are too large" },
  approver_differs: { status: 422, title: "The approver is not the caller" },
  check_mismatch: { status: 422, title: "A check does not agree" },
  secret_in_request: { status: 422, title: "The request holds what looks like a secret" },
  unsupported_requirement: { status: 422, title: "A requirement that this service does not implement" },
  idempotency_key_reused: { status: 422, title: "The idempotency key was used for another request" },
  too_many_pending: { status: 429, title: "Too many approvals are pending for this person" },
  mint_rate: { status: 429, title: "Too many approvals were asked of this person" },
  throttled: { status: 429, title: "Too many wrong attempts; wait before the next" },
  too_many_waits: { status: 429, title: "Too many waits are parked" },
  internal: { status: 500, title: "Something failed on our side" },
  unavailable: { status: 503, title: "Not available right now" },
  clock_skew: { status: 503, title: "Our clocks disagree" },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problems;

export type FieldError = { pointer: string; message: string };

/** What a problem may say besides its code: public words and fields only, never a value that was sent. */
export type ProblemExtras = {
  detail?: string;
  errors?: FieldError[];
  retryAfterSeconds?: number;
  /** `already_consumed` alone: when it ran and how it ended. */
  consumedAt?: string;
  outcome?: string | null;
};

/** A refusal on its way to the caller. `cause` is for the log alone. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly extras: ProblemExtras;
  constructor(code: ProblemCode, extras: ProblemExtras = {}, options?: { cause?: unknown }) {
    super(`${code}: ${extras.detail ?? problems[code].title}`, options);
    this.name = "Problem";
    this.code = code;
    this.extras = extras;
  }
}

/**
 * The one mapping of refusals to HTTP: `application/problem+json` (RFC 9457). Anything that is no `Problem` becomes an
 * opaque `internal`; the caller logs it under the same request id.
 */
export function toProblemResponse(error: unknown, requestId: string): Response {
  const problem = error instanceof Problem ? error : new Problem(isConnectionLoss(error) ? "unavailable" : "internal");
  const { status, title } = problems[problem.code];
  const { retryAfterSeconds, ...extras } = problem.extras;
  const headers: Record<string, string> = {
    "Content-Type": "application/problem+json",
    "Cache-Control": "no-store",
    "X-Request-Id": requestId,
  };
  if (retryAfterSeconds !== undefined) headers["Retry-After"] = String(retryAfterSeconds);
  else if (status === 503) headers["Retry-After"] = "2";
  if (status === 401) headers["WWW-Authenticate"] = 'Bearer realm="countersign"';
  const body = {
    type: `urn:countersign:problem:${problem.code}`,
    title,
    status,
    code: problem.code,
    instance: `urn:countersign:request:${requestId}`,
    ...extras,
  };
  return new Response(JSON.stringify(body), { status, headers });
}

/** True where the database went away or is not ready: the request was not refused, it may be sent again. */
export function isConnectionLoss(error: unknown): boolean {
  for (let e: unknown = error, hops = 0; e instanceof Error && hops < 5; e = e.cause, hops += 1) {
    const { code, severity } = e as { code?: unknown; severity?: unknown };
    // PostgreSQL ends, or refuses to begin, a connection by it, for whatever reason.
    if (severity === "FATAL") return true;
    // What Prisma has no code of its own for, it tells in words alone.
    const told = /^Database error\. Code: `(\w{5})`/m.exec(e.message)?.[1];
    if ([code, told].some((each) => typeof each === "string" && connectionLossCodes.has(each))) return true;
    if (
      /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout/.test(
        e.message,
      )
    )
      return true;
  }
  return false;
}

const connectionLossCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  // PostgreSQL: administrator shutdown, crash shutdown, cannot connect now, connection failures (class 08).
  "57P01",
  "57P02",
  "57P03",
  "08000",
  "08001",
  "08003",
  "08006",
  // Prisma: cannot reach, timed out, closed.
  "P1001",
  "P1002",
  "P1008",
  "P1017",
]);
