/**
 * What a reader cannot see or cannot tell from something else, as the source of a character class (v flag): controls, format
 * characters, line and paragraph separators, private and unassigned code points, lone surrogates, default-ignorable code
 * points (tags and variation selectors among them), every space but U+0020, and some blanks. The engine's Unicode decides.
 */
export const HIDDEN =
  "[[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Co}\\p{Cn}\\p{Cs}\\p{Zs}\\p{Default_Ignorable_Code_Point}" +
  // Letters, marks and symbols that are assigned, not ignorable, and yet drawn as nothing: Braille blank, Khitan filler,
  // two blanks of Egyptian hieroglyphs, musical null notehead.
  "\\u2800\\u{16FE4}\\u{13441}\\u{13442}\\u{1D159}]--[\\u0020]]";

/** The text without anything hidden, for judging what it looks like. White space that has a width stays, as U+0020. */
export function withoutHidden(text: string): string {
  return text.replace(/[^\S\uFEFF]/gu, " ").replace(EVERY_HIDDEN, "");
}

const EVERY_HIDDEN = new RegExp(HIDDEN, "gv");
