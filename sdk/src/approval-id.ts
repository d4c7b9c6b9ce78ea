/** `apr_` and 26 lower-case Crockford base32 characters (130 bits); opaque, not a secret, and no proof of anything. */
export const APPROVAL_ID_PATTERN = /^apr_[0-9a-hjkmnp-tv-z]{26}$/;

/** Tells whether a text has the form of an approval id. */
export function isApprovalId(text: unknown): text is string {
  return typeof text === "string" && APPROVAL_ID_PATTERN.test(text);
}
