import canonicalize from "canonicalize";
import { isPlainContainer } from "./plain";
import type { JsonValue } from "./value";

/**
 * The one text of a value that every implementation agrees on (RFC 8785, JSON Canonicalization Scheme).
 *
 * Does not judge exactness: check values from outside with `parseStrict` first. Throws `TypeError` for what
 * the scheme cannot express: non-finite numbers, lone surrogates, cycles, and anything that JSON text would drop or replace.
 */
export function canonicalJson(value: JsonValue): string {
  try {
    const text = canonicalize(value);
    // canonicalize leaves out undefined members and calls toJSON, either of which would sign another value than was given.
    if (text !== undefined && isJson(value)) return text;
  } catch (cause) {
    throw new TypeError(NO_CANONICAL_FORM, { cause });
  }
  throw new TypeError(NO_CANONICAL_FORM);
}

const NO_CANONICAL_FORM = "A value that JSON cannot hold has no canonical form.";

function isJson(value: unknown): boolean {
  if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return true;
  return typeof value === "object" && isPlainContainer(value) && Object.values(value).every(isJson);
}
