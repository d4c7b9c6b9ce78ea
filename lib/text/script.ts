/**
 * Says whether a word has letters of more than one script, not all of them Latin, Han, Hiragana or Katakana, which Japanese
 * mixes freely. Words are what white space separates: a sentence may well use two scripts, a word hardly ever.
 */
export function mixesScripts(text: string): boolean {
  return text.split(/\s+/u).some(mixesScriptsInWord);
}

/** The ISO 15924 code of a character's script; undefined when it belongs to none or to one younger than Unicode 15. */
export function scriptOf(character: string): string | undefined {
  return SCRIPTS.find(([, pattern]) => pattern.test(character))?.[0];
}

function mixesScriptsInWord(word: string): boolean {
  const foreign = word.match(FOREIGN_LETTER);
  if (foreign === null) return false;
  if (HOME_LETTER.test(word)) return true;
  const [, first] = SCRIPTS.find(([, pattern]) => pattern.test(foreign[0])) ?? ["", ANY_SCRIPT];
  return foreign.some((letter) => !first.test(letter));
}

const HOME = "\\p{Script=Latn}\\p{Script=Hani}\\p{Script=Hira}\\p{Script=Kana}";
const HOME_LETTER = new RegExp(`[[${HOME}]&&\\p{L}]`, "v");
// Zyyy and Zinh are the marks and letters that many scripts share.
const FOREIGN_LETTER = new RegExp(`[\\p{L}--[${HOME}\\p{Script=Zyyy}\\p{Script=Zinh}]]`, "gv");
const ANY_SCRIPT = /^/u;

// The common ones first, since the list is searched in order; no younger ones, which an older engine's ICU may not know.
const SCRIPTS: readonly (readonly [string, RegExp])[] = `
  Latn Cyrl Grek Hani Hira Kana Hang Arab Hebr Deva Thai Adlm Aghb Ahom Armi Armn Avst Bali Bamu Bass Batk Beng Bhks
  Bopo Brah Brai Bugi Buhd Cakm Cans Cari Cham Cher Chrs Copt Cpmn Cprt Diak Dogr Dsrt Dupl Egyp Elba Elym Ethi Geor
  Glag Gong Gonm Goth Gran Gujr Guru Hano Hatr Hluw Hmng Hmnp Hung Ital Java Kali Kawi Khar Khmr Khoj Kits Knda Kthi
  Lana Laoo Lepc Limb Lina Linb Lisu Lyci Lydi Mahj Maka Mand Mani Marc Medf Mend Merc Mero Mlym Modi Mong Mroo Mtei
  Mult Mymr Nagm Nand Narb Nbat Newa Nkoo Nshu Ogam Olck Orkh Orya Osge Osma Ougr Palm Pauc Perm Phag Phli Phlp Phnx
  Plrd Prti Rjng Rohg Runr Samr Sarb Saur Sgnw Shaw Shrd Sidd Sind Sinh Sogd Sogo Sora Soyo Sund Sylo Syrc Tagb Takr
  Tale Talu Taml Tang Tavt Telu Tfng Tglg Thaa Tibt Tirh Tnsa Toto Ugar Vaii Vith Wara Wcho Xpeo Xsux Yezi Yiii Zanb
`
  .trim()
  .split(/\s+/)
  .map((code) => [code, new RegExp(`^\\p{Script=${code}}`, "u")]);
