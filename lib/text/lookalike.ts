import { ASCII_PROTOTYPES } from "./confusables-ascii";
import { scriptOf } from "./script";

/**
 * Says whether something in a text reads as ASCII without being it (UTS 39): a word all of whose characters are ASCII or
 * have an ASCII prototype, a false slash, colon or stop amid ASCII, or a false dash before an option such as `‐‐dry-run`.
 *
 * Quotation marks, dashes and operators of good typography are not taken for attacks. Expects text without hidden characters.
 */
export function looksLikeAscii(text: string): boolean {
  return FALSE_SEPARATOR.test(text) || FALSE_OPTION.test(text) || hasLookalikeWord(text.normalize("NFKC"));
}

function hasLookalikeWord(text: string): boolean {
  const words = new Set(text.match(WORD)?.filter(isLookalike));
  if (words.size === 0) return false;
  if ([...words].some((word) => [...word].length > 1)) return true;
  // Many languages have words of one letter ("с" and "о" in Russian); the rest of the text tells that they are no "c" or "o".
  const evident = evidentScripts(text);
  return [...words].some((word) => !evident.has(scriptOf(word)));
}

function isLookalike(word: string): boolean {
  const characters = [...word];
  return (
    characters.every((character) => character < "\x80" || ASCII_PROTOTYPES.has(character)) && characters.some(isFalse)
  );
}

/** Latin ligatures and letters with a hook (æ, ơ) have a prototype of two characters and are plainly not these two. */
function isFalse(character: string): boolean {
  const prototype = ASCII_PROTOTYPES.get(character);
  return prototype !== undefined && (prototype.length === 1 || !/\p{Script=Latn}/u.test(character));
}

function evidentScripts(text: string): Set<string | undefined> {
  const letters = new Set(text.match(/\p{L}/gu));
  return new Set([...letters].filter((letter) => letter > "\x7f" && !ASCII_PROTOTYPES.has(letter)).map(scriptOf));
}

/** The characters with a prototype that matches, as the content of a character class. */
function sources(prototype: RegExp, category: RegExp): string {
  const matching = [...ASCII_PROTOTYPES].filter(([source, ascii]) => prototype.test(ascii) && category.test(source));
  return matching.map(([source]) => source).join("");
}

// Han and kana end a word, for Japanese puts no space between its words and others.
const JAPANESE = "\\p{scx=Hani}\\p{scx=Hira}\\p{scx=Kana}";
const WORD = new RegExp(`[[\\p{L}\\p{N}\\p{M}${sources(/^[0-9A-Za-z]+$/, /\p{So}/u)}]--[${JAPANESE}]]+`, "gv");

// Kana and ideographs such as ノ and 〇 are false only in the midst of ASCII.
const JAPANESE_LETTERS = sources(/^/, /[\p{L}\p{Nl}]/u).replace(new RegExp(`[^${JAPANESE}]`, "gv"), "");
const SEPARATORS = sources(/^[/\\:.]+$/, /[^\p{L}\p{M}]/u) + JAPANESE_LETTERS;
const FALSE_SEPARATOR = new RegExp(`[!-~][${SEPARATORS}]+[0-9A-Za-z]`, "v");

const DASHES = sources(/^-$/, /[^\p{L}]/u);
const FALSE_OPTION = new RegExp(`(?<!\\S)-*[${DASHES}][\\-${DASHES}]*[A-Za-z]`, "v");
