/** What went wrong on the way to Countersign, beside the problem codes that the service itself answers. */
export type ClientErrorCode =
  /** No answer: refused, reset, timed out, or a redirect. */
  | "unreachable"
  /** An answer that is not of the contract's form. */
  | "unexpected_answer"
  /** The caller's own signal ended the call. */
  | "aborted";

type ErrorFacts = {
  status?: number;
  detail?: string;
  pointer?: string;
  retryAfterSeconds?: number;
  data?: Readonly<Record<string, unknown>>;
};

/**
 * A call to Countersign that did not give what was asked. `code` is a problem code of the service (RFC 9457 extension member)
 * or a `ClientErrorCode`; `status` is the HTTP status, 0 without an answer; `data` holds the problem's further members.
 * The message never holds the API key, arguments or a token.
 */
export class CountersignError extends Error {
  readonly code: string;
  readonly status: number;
  readonly detail: string | undefined;
  readonly pointer: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(code: ClientErrorCode | (string & {}), facts: ErrorFacts = {}) {
    super(facts.detail === undefined ? `Countersign: ${code}` : `Countersign: ${code}: ${facts.detail}`);
    this.name = "CountersignError";
    this.code = code;
    this.status = facts.status ?? 0;
    this.detail = facts.detail;
    this.pointer = facts.pointer;
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.data = facts.data ?? {};
  }
}
