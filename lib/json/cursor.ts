import { type JsonPath, JsonRefusal } from "./fault";

/** Where the parser stands: an offset in the text (UTF-16 code units) and the path of the value being read. */
export type Cursor = { readonly text: string; at: number; readonly path: JsonPath; readonly maxDepth: number };

/** Steps over white space (RFC 8259 section 2: space, tab, line feed and carriage return only). */
export function skipSpace(cursor: Cursor): void {
  const { text } = cursor;
  let at = cursor.at;
  for (let code = text.charCodeAt(at); isSpace(code); code = text.charCodeAt(at)) at += 1;
  cursor.at = at;
}

/** Steps over white space and the given character, if it comes next; says whether it did. */
export function take(cursor: Cursor, character: string): boolean {
  skipSpace(cursor);
  if (cursor.text[cursor.at] !== character) return false;
  cursor.at += 1;
  return true;
}

export function expect(cursor: Cursor, character: string): void {
  if (!take(cursor, character)) throw unexpected(cursor);
}

/** The refusal for whatever stands at the cursor. */
export function unexpected(cursor: Cursor): JsonRefusal {
  const what = cursor.at < cursor.text.length ? "Unexpected character" : "Unexpected end";
  return new JsonRefusal("malformed", `${what} at offset ${cursor.at}.`);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
