import { type Cursor, expect, skipSpace, take, unexpected } from "./cursor";
import { refuseForbiddenKey } from "./exact-text";
import { type JsonFault, JsonRefusal, toFault } from "./fault";
import { readNumber } from "./read-number";
import { readString } from "./read-string";
import type { JsonArray, JsonObject, JsonValue } from "./value";

export type StrictParse =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly fault: JsonFault };

/**
 * Parses a JSON text so that nothing in it is rounded, dropped or read in two ways (I-JSON, RFC 7493), or says why not.
 *
 * `maxDepth` (default 32, at most 1000) bounds how many containers lie inside one another; a caller whose limit holds for a
 * member adds the containers around it. The first fault in reading order is reported; its codes are those of `JsonFaultCode`.
 * Takes linear time. Bytes must be decoded with a fatal UTF-8 decoder before, which turns no bad byte into U+FFFD.
 */
export function parseStrict(text: string, options: { readonly maxDepth?: number } = {}): StrictParse {
  const cursor: Cursor = { text, at: 0, path: [], maxDepth: options.maxDepth ?? 32 };
  try {
    const value = readValue(cursor);
    skipSpace(cursor);
    if (cursor.at < text.length) throw unexpected(cursor);
    return { ok: true, value };
  } catch (error) {
    return { ok: false, fault: toFault(error, cursor.path) };
  }
}

function readValue(cursor: Cursor): JsonValue {
  skipSpace(cursor);
  switch (cursor.text[cursor.at]) {
    case "{":
      return readObject(cursor);
    case "[":
      return readArray(cursor);
    case '"':
      return readString(cursor);
    case "t":
      return readLiteral(cursor, "true", true);
    case "f":
      return readLiteral(cursor, "false", false);
    case "n":
      return readLiteral(cursor, "null", null);
    default:
      return readNumber(cursor);
  }
}

function readObject(cursor: Cursor): JsonObject {
  enter(cursor);
  const members = new Map<string, JsonValue>();
  if (take(cursor, "}")) return {};
  do {
    const key = readKey(cursor);
    cursor.path.push(key);
    refuseForbiddenKey(key);
    if (members.has(key)) throw new JsonRefusal("duplicate_key", "An object must not name the same member twice.");
    expect(cursor, ":");
    members.set(key, readValue(cursor));
    cursor.path.pop();
  } while (take(cursor, ","));
  expect(cursor, "}");
  // Defines members instead of assigning them, so that names such as "constructor" are ordinary.
  return Object.fromEntries(members);
}

function readKey(cursor: Cursor): string {
  skipSpace(cursor);
  if (cursor.text[cursor.at] !== '"') throw unexpected(cursor);
  return readString(cursor);
}

function readArray(cursor: Cursor): JsonArray {
  enter(cursor);
  const elements: JsonValue[] = [];
  if (take(cursor, "]")) return elements;
  do {
    cursor.path.push(elements.length);
    elements.push(readValue(cursor));
    cursor.path.pop();
  } while (take(cursor, ","));
  expect(cursor, "]");
  return elements;
}

/** Steps into a container. The path has one step for each container that is open already. */
function enter(cursor: Cursor): void {
  if (cursor.path.length >= cursor.maxDepth) {
    throw new JsonRefusal("too_deep", `At most ${cursor.maxDepth} arrays and objects may lie inside one another.`);
  }
  cursor.at += 1;
}

function readLiteral<T extends boolean | null>(cursor: Cursor, word: string, value: T): T {
  if (!cursor.text.startsWith(word, cursor.at)) throw unexpected(cursor);
  cursor.at += word.length;
  return value;
}
