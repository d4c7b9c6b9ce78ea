import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { copyExactly, type JsonObject, type JsonValue } from "./exact-json";

/** What is to be done: the tool and its arguments, exactly as the handler receives them. */
export type Action = { tool: string; arguments: JsonObject };

/**
 * The digest that a record, a decision and a receipt name: `sha256:` and the hex SHA-256 of the RFC 8785 text of
 * `{ tool, arguments, salt }`. The salt (128 random bits, made by Countersign) keeps it from being guessed.
 * @throws InexactValueError when JSON would alter the arguments
 */
export function actionDigest({ tool, arguments: args, salt }: Action & { salt: string }): string {
  // Checked on their own, so that they have their 32 levels to themselves.
  const text = canonicalText({ tool, arguments: copyExactly(args), salt });
  return `sha256:${createHash("sha256").update(text, "utf8").digest("hex")}`;
}

/**
 * RFC 8785 (JSON Canonicalization Scheme) text of a value, at most 32 levels deep.
 * @throws InexactValueError when JSON would alter the value
 */
export function canonicalJson(value: unknown): string {
  return canonicalText(copyExactly(value));
}

function canonicalText(value: JsonValue): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError("a JSON value always has a canonical text");
  return text;
}
