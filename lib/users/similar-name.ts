/**
 * Those of `known` that somebody may have meant by `name`: equal but for case, space around, slashes at the end, the scheme, a default
 * port, or the path of a discovery document (OpenID Connect Discovery 1.0 section 4). They are still other issuers: `iss` is compared as
 * an exact string (section 2).
 */
export function similarIssuers(name: string, known: readonly string[]): string[] {
  const wanted = essenceOf(name);
  return [...new Set(known)].filter((issuer) => issuer !== name && essenceOf(issuer) === wanted);
}

function essenceOf(issuer: string): string {
  return issuer
    .trim()
    .toLowerCase()
    .replace(/\/\.well-known\/(openid-configuration|oauth-authorization-server)$/, "")
    .replace(/^https?:\/\//, "")
    .replace(/^([^/]*?):(?:443|80)(?=\/|$)/, "$1")
    .replace(/\/+$/, "");
}
