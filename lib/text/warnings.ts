import { withoutHidden } from "./hidden";
import { looksLikeAscii } from "./lookalike";
import { mixesScripts } from "./script";

/**
 * What to say beside a text that may not be what it seems.
 *
 * - `mixed_scripts`: a word has letters of several scripts, and not only of Latin, Han and kana.
 * - `looks_like_ascii`: a word, path or option reads as ASCII but holds other characters (UTS 39).
 * - `not_nfkc`: letters or digits have another code for the same sign (full-width, ligature, decomposed, …; UAX 15).
 * - `outer_space`: it begins or ends with white space.
 */
export type Warning = "mixed_scripts" | "looks_like_ascii" | "not_nfkc" | "outer_space";

/** Judges a text as a reader would take it; each warning comes at most once, in the order of the type. Never alters it. */
export function textWarnings(text: string): Warning[] {
  const warnings: Warning[] = [];
  const visible = withoutHidden(text);
  if (mixesScripts(visible)) warnings.push("mixed_scripts");
  if (looksLikeAscii(visible)) warnings.push("looks_like_ascii");
  if (hasCompatibilityForms(text)) warnings.push("not_nfkc");
  if (text.trim() !== text) warnings.push("outer_space");
  return warnings;
}

/**
 * Says whether a sign stands in the text under another code than its usual one.
 *
 * Full-width punctuation and half-width kana are how Japanese is written, in bank transfers above all, and mistaken for
 * nothing else. So of what only NFKC changes there count letters and digits, without those kana, and hyphens and stops that
 * look exactly like others (U+2011, U+2024, U+FE50–U+FE6F). Radicals (U+2F00–U+2FD5), which look exactly like ideographs,
 * are symbols to Unicode; hence Script=Han.
 */
function hasCompatibilityForms(text: string): boolean {
  if (text.normalize("NFC") !== text) return true;
  const letters = text.replace(NOT_JUDGED, " ");
  return letters.normalize("NFKC") !== letters;
}

const NOT_JUDGED = /[^\p{L}\p{Nd}\p{Nl}\p{Script=Han}\u2011\u2024\uFE50-\uFE6F]|[\uFF66-\uFF9F]/gu;
