import { randomBytes } from "node:crypto";

/** A prefix and 26 lower-case Crockford base32 characters: 130 random bits. */
export function newId(prefix: string): string {
  return `${prefix}_${randomCharacters(26)}`;
}

/** Random lower-case Crockford base32 characters, five bits each. */
export function randomCharacters(count: number): string {
  // 256 is a multiple of 32, so the low five bits of a random byte are uniform.
  return Array.from(randomBytes(count), (byte) => alphabet[byte & 31]).join("");
}

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
