import { randomBytes } from "node:crypto";

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/** `apr_` and 26 lower-case Crockford base32 characters: 130 random bits. */
export function newApprovalId(): string {
  // 256 is a multiple of 32, so the low five bits of a random byte are uniform.
  return `apr_${Array.from(randomBytes(26), (byte) => alphabet[byte & 31]).join("")}`;
}

/** Whether a text could be an approval's id; says nothing about whether there is one. */
export function isApprovalId(text: string): boolean {
  return /^apr_[0-9a-hjkmnp-tv-z]{26}$/.test(text);
}
