import { JsonRefusal } from "./fault";

/** Refuses text that would not survive storage and transport unchanged: U+0000 and lone surrogates (RFC 7493 section 2.1). */
export function refuseInexactText(text: string): void {
  if (text.includes("\0")) throw new JsonRefusal("nul_character", "Text must not contain U+0000.");
  if (LONE_SURROGATE.test(text))
    throw new JsonRefusal("lone_surrogate", "Text must not contain half a surrogate pair.");
}

/** Refuses the one key that assignment would turn into a prototype. */
export function refuseForbiddenKey(key: string): void {
  if (key === "__proto__") throw new JsonRefusal("forbidden_key", "A member must not be called __proto__.");
}

// With the u flag a paired surrogate is one code point of another category, so only lone ones match.
const LONE_SURROGATE = /\p{Surrogate}/u;
