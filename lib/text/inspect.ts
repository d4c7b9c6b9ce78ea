import { codePointLabel, codePointName } from "./code-point-name";
import { HIDDEN } from "./hidden";

/** A stretch of text to show as it is, or one character to draw as a labelled box: `codePoint` as in "U+202E". */
export type Span =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "hidden"; readonly char: string; readonly codePoint: string; readonly name: string };

/**
 * Splits a text into what can be shown and what must be drawn, so that a reader sees every character (invariant I11).
 *
 * `text` and `char` of all spans, joined, are the input. Drawn are: everything hidden (see `HIDDEN`; a line feed is text when
 * `multiline`), the fourth and every further combining mark on one base, and marks without a base, which would be laid over
 * the label before them. An emoji sequence that Unicode recommends for interchange (UTS 51, RGI) is text, joiners included,
 * since it is one visible sign. Takes linear time.
 */
export function inspectText(text: string, options: { readonly multiline: boolean }): Span[] {
  const spans: Span[] = [];
  let marks = Number.POSITIVE_INFINITY; // on the current base; infinite where there is none
  for (const [piece, hidden, mark] of text.matchAll(TOKEN)) {
    if (mark !== undefined) marks += 1;
    else marks = hidden === undefined ? 0 : Number.POSITIVE_INFINITY;
    const isNewline = piece === "\n" && options.multiline;
    const isDrawn = mark === undefined ? hidden !== undefined && !isNewline : marks > MAX_MARKS;
    if (isDrawn)
      spans.push({ kind: "hidden", char: piece, codePoint: codePointLabel(piece), name: codePointName(piece) });
    else appendText(spans, piece);
  }
  return spans;
}

function appendText(spans: Span[], piece: string): void {
  const last = spans.at(-1);
  if (last?.kind === "text") spans[spans.length - 1] = { kind: "text", text: last.text + piece };
  else spans.push({ kind: "text", text: piece });
}

const MAX_MARKS = 3;

// The first alternative takes ordinary runs at once and stops before anything that can begin an emoji sequence: trying the
// emoji set at each character is ten times slower.
const TOKEN = new RegExp(
  `[^${HIDDEN}\\p{M}\\p{Emoji}\\p{Regional_Indicator}]+|(${HIDDEN})|(\\p{M})|\\p{RGI_Emoji}|[^]`,
  "gv",
);
