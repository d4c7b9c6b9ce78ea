import { withoutHidden } from "./hidden";

/**
 * Says whether a text is one visible line: it has something to see, and no character that breaks the line (Unicode's
 * mandatory breaks, UAX 14: U+000A–U+000D, U+0085, U+2028, U+2029).
 */
export function isOneLine(text: string): boolean {
  return !LINE_BREAK.test(text) && withoutHidden(text).trim() !== "";
}

const LINE_BREAK = /[\n\v\f\r\u0085\u2028\u2029]/u;
