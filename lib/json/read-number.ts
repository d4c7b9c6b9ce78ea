import { type Cursor, unexpected } from "./cursor";
import { isExactNumber } from "./exact-number";
import { JsonRefusal } from "./fault";

/** Reads the number at the cursor (RFC 8259 section 6), refusing one that a double does not hold as written. */
export function readNumber(cursor: Cursor): number {
  NUMBER.lastIndex = cursor.at;
  const source = NUMBER.exec(cursor.text)?.[0];
  if (source === undefined) throw unexpected(cursor);
  const value = Number(source);
  if (!isExactNumber(source, value)) throw new JsonRefusal("number_not_exact", INEXACT);
  cursor.at += source.length;
  return value;
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[Ee][+-]?[0-9]+)?/y;

const INEXACT =
  "This number would not arrive as written: it has more digits than a double holds, is out of range, or is negative zero. Send it as a string.";
