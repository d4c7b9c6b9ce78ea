import { type Cursor, unexpected } from "./cursor";
import { refuseInexactText } from "./exact-text";
import { JsonRefusal } from "./fault";

/** Reads the string whose opening quote is at the cursor (RFC 8259 section 7), refusing U+0000 and lone surrogates. */
export function readString(cursor: Cursor): string {
  const { text } = cursor;
  const start = cursor.at + 1;
  let value = "";
  let from = start;
  for (;;) {
    const stop = endOfPlain(text, from);
    value += text.slice(from, stop);
    cursor.at = stop;
    if (text[stop] === '"') break;
    value += readEscape(cursor);
    from = cursor.at;
  }
  const source = text.slice(start, cursor.at);
  cursor.at += 1;
  // The source is judged too: half a pair written out and half escaped would pass for a whole one after unescaping.
  refuseInexactText(source);
  if (value !== source) refuseInexactText(value);
  return value;
}

function endOfPlain(text: string, from: number): number {
  let at = from;
  for (let code = text.charCodeAt(at); code >= 0x20 && code !== 0x22 && code !== 0x5c; code = text.charCodeAt(at))
    at += 1;
  return at;
}

function readEscape(cursor: Cursor): string {
  const { text, at } = cursor;
  if (text[at] === "\0") throw new JsonRefusal("nul_character", "Text must not contain U+0000.");
  if (text[at] !== "\\") throw unexpected(cursor);
  const letter = text[at + 1] ?? "";
  if (letter === "u") {
    const digits = text.slice(at + 2, at + 6);
    if (!FOUR_HEX_DIGITS.test(digits)) throw unexpected(cursor);
    cursor.at += 6;
    return String.fromCharCode(Number.parseInt(digits, 16));
  }
  const character = ESCAPES.get(letter);
  if (character === undefined) throw unexpected(cursor);
  cursor.at += 2;
  return character;
}

const FOUR_HEX_DIGITS = /^[0-9A-Fa-f]{4}$/;

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);
