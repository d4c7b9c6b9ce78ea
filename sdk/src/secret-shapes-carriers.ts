/**
 * Whether a text carries a credential by its form and not by a prefix: a compact JWS or JWE (RFC 7515, RFC 7516), the value of an
 * `Authorization` header (RFC 6750, RFC 7617), or a URL with a password in it (RFC 3986 section 3.2.1).
 */
export function hasCarriedToken(text: string): boolean {
  return hasJose(text) || hasBearer(text) || hasBasic(text) || hasUrlPassword(text);
}

/** The base64url of `{"alg":"x"}`. Longer headers than the maximum are not opened; those in use have some hundred characters. */
const headerMinLength = 15;
const headerMaxLength = 4_096;

function hasJose(text: string): boolean {
  if (!text.includes("ey") || !text.includes(".")) return false;
  for (const [run] of text.matchAll(/[A-Za-z0-9_.-]{20,}/g)) {
    const segments = run.split(".");
    for (let i = 0; i + 2 < segments.length; i += 1) if (endsInJoseHeader(segments[i] ?? "")) return true;
  }
  return false;
}

/** Another word may stand before the header, joined by `_` or `-`. */
function endsInJoseHeader(segment: string): boolean {
  return [segment.indexOf("ey"), segment.lastIndexOf("eyJ")].some((at) => {
    const length = segment.length - at;
    if (at < 0 || length < headerMinLength || length > headerMaxLength) return false;
    if (/[A-Za-z0-9]/.test(segment[at - 1] ?? "")) return false;
    const header = Buffer.from(segment.slice(at), "base64url").toString("utf8");
    return header.startsWith("{") && header.endsWith("}") && header.includes('"alg"');
  });
}

function hasBearer(text: string): boolean {
  if (!/earer/i.test(text)) return false;
  // "Bearer certificate-of-ownership" is no token: words have no digits, and they end.
  for (const [, token = ""] of text.matchAll(/\bBearer["']?[\s:=]{1,4}([A-Za-z0-9._~+/-]{16,})/gi))
    if (/\d|[A-Za-z]{24}/.test(token) && !/x{12}$/i.test(token)) return true;
  return false;
}

function hasBasic(text: string): boolean {
  if (!/basic/i.test(text)) return false;
  for (const [, encoded = ""] of text.matchAll(/\bBasic\s{1,4}([A-Za-z0-9+/]{8,1000}={0,2})(?![A-Za-z0-9+/=])/gi)) {
    if (encoded.length % 4 !== 0) continue;
    const pair = Buffer.from(encoded, "base64").toString("utf8");
    if (pair.includes(":") && !/[\p{Cc}\ufffd]/u.test(pair)) return true;
  }
  return false;
}

function hasUrlPassword(text: string): boolean {
  if (!text.includes("://")) return false;
  for (const [, password = ""] of text.matchAll(/[A-Za-z0-9]:\/\/[^\s/?#:@]{0,256}:([^\s/?#@]{1,256})@[^\s/]/g))
    if (!isMasked(password)) return true;
  return false;
}

/** `***`, `xxxxx`, `<password>`, `${DB_PASSWORD}`, `[redacted]`: somebody has taken the password out. */
const isMasked = (password: string) => /^(?:[*•.]+|x+|<.*>|\$?\{.*\}|\$[A-Z_]+|\[.*\]|redacted)$/i.test(password);
