/**
 * A short lower-case English name for a character that is drawn instead of shown, such as "right-to-left override".
 *
 * Commonly abused characters have their own name (after the Unicode names, shortened); the others that of their category.
 */
export function codePointName(character: string): string {
  const codePoint = character.codePointAt(0) ?? 0;
  return NAMES.get(codePoint) ?? nameInRange(codePoint) ?? nameOfCategory(character);
}

/** "U+" and at least four upper-case hexadecimal digits. */
export function codePointLabel(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

function nameInRange(codePoint: number): string | undefined {
  if (codePoint >= 0xfe00 && codePoint <= 0xfe0f) return `variation selector ${codePoint - 0xfe00 + 1}`;
  if (codePoint >= 0xe0100 && codePoint <= 0xe01ef) return `variation selector ${codePoint - 0xe0100 + 17}`;
  // Tags mirror printable ASCII, so the name can tell what a smuggled text says.
  if (codePoint > 0xe0020 && codePoint <= 0xe007e) return `tag ${String.fromCodePoint(codePoint - 0xe0000)}`;
  return undefined;
}

function nameOfCategory(character: string): string {
  return CATEGORIES.find(([pattern]) => pattern.test(character))?.[1] ?? "invisible character";
}

const CATEGORIES: readonly (readonly [RegExp, string])[] = [
  [/^\p{Cc}$/u, "control character"],
  [/^\p{Cf}$/u, "format character"],
  [/^\p{Co}$/u, "private use"],
  [/^\p{Cn}$/u, "unassigned"],
  [/^\p{Cs}$/u, "lone surrogate"],
  [/^\p{Zs}$/u, "space"],
  [/^\p{M}$/u, "combining mark"],
];

const NAMES: ReadonlyMap<number, string> = new Map([
  [0x0000, "null"],
  [0x0007, "bell"],
  [0x0008, "backspace"],
  [0x0009, "tab"],
  [0x000a, "line feed"],
  [0x000b, "vertical tab"],
  [0x000c, "form feed"],
  [0x000d, "carriage return"],
  [0x001b, "escape"],
  [0x007f, "delete"],
  [0x0085, "next line"],
  [0x00a0, "no-break space"],
  [0x00ad, "soft hyphen"],
  [0x034f, "combining grapheme joiner"],
  [0x061c, "arabic letter mark"],
  [0x115f, "hangul filler"],
  [0x1160, "hangul filler"],
  [0x180e, "mongolian vowel separator"],
  [0x2002, "en space"],
  [0x2003, "em space"],
  [0x2007, "figure space"],
  [0x2009, "thin space"],
  [0x200a, "hair space"],
  [0x200b, "zero width space"],
  [0x200c, "zero width non-joiner"],
  [0x200d, "zero width joiner"],
  [0x200e, "left-to-right mark"],
  [0x200f, "right-to-left mark"],
  [0x2028, "line separator"],
  [0x2029, "paragraph separator"],
  [0x202a, "left-to-right embedding"],
  [0x202b, "right-to-left embedding"],
  [0x202c, "pop directional formatting"],
  [0x202d, "left-to-right override"],
  [0x202e, "right-to-left override"],
  [0x202f, "narrow no-break space"],
  [0x2060, "word joiner"],
  [0x2066, "left-to-right isolate"],
  [0x2067, "right-to-left isolate"],
  [0x2068, "first strong isolate"],
  [0x2069, "pop directional isolate"],
  [0x2800, "braille blank"],
  [0x3000, "ideographic space"],
  [0x3164, "hangul filler"],
  [0xfeff, "byte order mark"],
  [0xffa0, "hangul filler"],
  [0xe0001, "language tag"],
  [0xe0020, "tag space"],
  [0xe007f, "cancel tag"],
]);
