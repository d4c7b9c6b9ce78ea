import { type Naming, saysAnotherNumber, saysMyNumber } from "./secret-shapes-words";

/**
 * Whether a text holds a payment card number: the prefix and length of an issuer, and the check digit of ISO/IEC 7812-1 (Luhn); plain, or
 * in the groups in which cards are printed. Full-width digits count like others.
 */
export function hasCardNumber(text: string): boolean {
  const folded = foldDigits(text);
  return folded !== undefined && cardPatterns.some((pattern) => matches(folded, pattern).some(isCard));
}

/**
 * Whether a text holds an individual number of Japan with its check digit. One in ten of all twelve-digit numbers has the right one, so more
 * must speak for it: the groups 4-4-4, or being the whole value, where no word says another number; or a word that says so.
 */
export function hasMyNumber(text: string, naming?: Naming): boolean {
  const folded = foldDigits(text);
  if (folded === undefined) return false;
  if (/^\d{12}$/.test(folded.replace(/[ -]/g, "")) && isMyNumber(folded) && naming?.isMyNumber()) return true;
  const isWhole = naming !== undefined && wholeNumber.test(folded);
  if (isWhole && isDateTime(folded.replace(/\D/g, ""))) return false;
  for (const match of folded.matchAll(myNumberPattern)) {
    if (!isMyNumber(match[0])) continue;
    const [before, following] = wordsAround(folded, match.index, match[0].length);
    if (naming?.isMyNumber() || saysMyNumber(before) || saysMyNumber(following)) return true;
    const isGrouped = match[1] !== undefined;
    if ((isGrouped || isWhole) && !naming?.isAnotherNumber() && !saysAnotherNumber(before)) return true;
  }
  return false;
}

// Not inside a longer number, word, UUID, decimal or telephone number.
const left = "(?<![A-Za-z0-9_+]|[A-Za-z0-9]-|\\d\\.)";
const right = "(?![A-Za-z0-9_]|-[A-Za-z0-9]|\\.\\d)";
const separator = "([ -])";
const number = (digits: string) => new RegExp(left + digits + right, "g");
/** Groups of four with no further one beside them. */
const fours = (digits: string) => number(`(?<!\\d{4} )${digits}(?! \\d{4}(?!\\d))`);

const cardPatterns = [
  number("\\d{14,19}"),
  fours(`\\d{4}${separator}\\d{4}\\1\\d{4}\\1\\d{4}`),
  fours(`\\d{4}${separator}\\d{4}\\1\\d{4}\\1\\d{4}\\1\\d{3}`),
  number(`\\d{4}${separator}\\d{6}\\1\\d{4,5}`),
  number(`\\d{6}${separator}\\d{13}`),
];
const myNumberPattern = fours(`\\d{4}${separator}?\\d{4}\\1\\d{4}`);

const wholeNumber = /^[\s#:"'()[\]「」（）]*\d{12}[\s"'()[\]「」（）]*$/;

const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([match]) => match);

/** Prefixes and lengths that issuers use now. Visa's 13 digits are not among them: Japanese goods are numbered so (45…, 49…). */
const issuers: readonly (readonly [prefix: RegExp, lengths: readonly number[]])[] = [
  [/^4/, [16, 19]],
  [/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, [16]],
  [/^3[47]/, [15]],
  [/^35(?:2[89]|[3-8])/, [16, 17, 18, 19]],
  [/^3(?:0[0-5]|095|6|8|9)/, [14]],
  [/^6(?:011|4[4-9]|5)/, [16, 17, 18, 19]],
  [/^62/, [16, 17, 18, 19]],
];

function isCard(match: string): boolean {
  const digits = match.replace(/\D/g, "");
  return issuers.some(([prefix, lengths]) => lengths.includes(digits.length) && prefix.test(digits)) && isLuhn(digits);
}

function isLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i += 1) {
    const digit = Number(digits[digits.length - 1 - i]);
    sum += i % 2 === 0 ? digit : digit > 4 ? 2 * digit - 9 : 2 * digit;
  }
  return sum % 10 === 0;
}

/** Ministry of Internal Affairs and Communications, ordinance 85 of 2014, article 5: weights 2 to 7, then 2 to 6, from the right. */
function isMyNumber(match: string): boolean {
  const digits = match.replace(/\D/g, "");
  if (/^(\d)\1*$/.test(digits)) return false;
  let sum = 0;
  for (let n = 1; n <= 11; n += 1) sum += Number(digits[11 - n]) * (n <= 6 ? n + 1 : n - 5);
  const remainder = sum % 11;
  return Number(digits[11]) === (remainder <= 1 ? 0 : 11 - remainder);
}

/** `202604121530`: year to minute. */
const isDateTime = (digits: string) =>
  /^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3])[0-5]\d$/.test(digits);

const wordsAround = (text: string, at: number, length: number) =>
  [text.slice(Math.max(0, at - 40), at), text.slice(at + length, at + length + 20)] as const;

/** Full-width digits, hyphens and spaces as ASCII and account numbers (ISO 13616) blanked out; undefined where there are too few digits. */
function foldDigits(text: string): string | undefined {
  if (!/[0-9０-９]{3}/.test(text)) return undefined;
  const ascii = text
    .replace(/[０-９]/g, (digit) => String.fromCharCode(digit.charCodeAt(0) - 0xfee0))
    .replace(/(?<=\d)[‐‑‒–−－ー](?=\d)/g, "-")
    .replace(/(?<=\d)[\u3000\u00a0](?=\d)/g, " ");
  return ascii.replace(/(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[0-9A-Z]){11,30}/g, blankAccountNumber);
}

/** Blanks the longest start of the match that has the check digits of an IBAN (ISO 7064, MOD 97-10). */
function blankAccountNumber(match: string): string {
  let blanked = 0;
  let remainder = 0;
  const head = match.slice(0, 4);
  for (let i = 4; i < match.length; i += 1) {
    const character = match.charAt(i);
    if (character !== " ") remainder = modulo97(remainder, character);
    const isAtEnd = !/[0-9A-Z]/.test(match.charAt(i + 1));
    if (isAtEnd && i >= 14 && [...head].reduce(modulo97, remainder) === 1) blanked = i + 1;
  }
  return "/".repeat(blanked) + match.slice(blanked);
}

function modulo97(remainder: number, character: string): number {
  const value = Number.parseInt(character, 36);
  return (remainder * (value > 9 ? 100 : 10) + value) % 97;
}
