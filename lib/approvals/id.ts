import { newId } from "../ids/new-id";

/** `apr_` and 26 lower-case Crockford base32 characters: 130 random bits. */
export function newApprovalId(): string {
  return newId("apr");
}

/** Whether a text could be an approval's id; says nothing about whether there is one. */
export function isApprovalId(text: string): boolean {
  return /^apr_[0-9a-hjkmnp-tv-z]{26}$/.test(text);
}
