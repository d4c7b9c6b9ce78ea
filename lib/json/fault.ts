/**
 * Why a document or value is refused.
 *
 * - `malformed`: not JSON (RFC 8259), or a JavaScript value that JSON cannot hold.
 * - `duplicate_key`: an object names a member twice, compared after unescaping (RFC 7493 section 2.3).
 * - `forbidden_key`: a member is called `__proto__`, which JavaScript programs may take for the prototype.
 * - `nul_character`: a key or string holds U+0000, which databases cannot store.
 * - `lone_surrogate`: a key or string is not a sequence of Unicode scalar values (RFC 7493 section 2.1).
 * - `too_deep`: more containers inside one another than the limit allows.
 * - `number_not_exact`: a double cannot hold the number as written (RFC 7493 section 2.2), or it is negative zero.
 */
export type JsonFaultCode =
  | "malformed"
  | "duplicate_key"
  | "forbidden_key"
  | "nul_character"
  | "lone_surrogate"
  | "too_deep"
  | "number_not_exact";

/**
 * One reason to refuse, with its place.
 *
 * `pointer` is an RFC 6901 JSON pointer to the member or element at fault; a fault in the characters of a key points to the
 * object that holds the key. `message` is a fixed sentence without any of the document's values.
 */
export type JsonFault = { readonly code: JsonFaultCode; readonly pointer: string; readonly message: string };

export type JsonPath = (string | number)[];

/** A fault on its way up to the function that knows the path; never leaves this folder. */
export class JsonRefusal extends Error {
  readonly code: JsonFaultCode;

  constructor(code: JsonFaultCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Turns a refusal into a fault at the given path; any other error is a defect and is thrown again. */
export function toFault(error: unknown, path: JsonPath): JsonFault {
  if (!(error instanceof JsonRefusal)) throw error;
  const pointer = path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  return { code: error.code, pointer, message: error.message };
}
