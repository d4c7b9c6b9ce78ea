/**
 * The one spelling under which a request target is routed: origin form (of an absolute-form target the part after the authority, RFC 9112
 * section 3.2.2), escaped unreserved characters written out (RFC 3986 section 6.2.2.2), the query as it came. Undefined for a path that no
 * surface has: other escapes, empty or dot segments, backslashes, parameters, a fragment. What reaches a router behind this has one
 * reading only.
 */
export function canonicalTarget(target: string): string | undefined {
  const originForm = target.replace(/^https?:\/\/[^/?#]*/i, "");
  const [, path = "", query = ""] = /^([^?]*)(.*)$/s.exec(originForm) ?? [];
  const spelled = path.replaceAll(/%[0-9a-f]{2}/gi, (escaped) => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
    return unreserved.test(character) ? character : escaped;
  });
  const isPlain = spelled === "" ? originForm !== target : /^(?:\/[A-Za-z0-9._~-]*)+$/.test(spelled);
  if (!isPlain || /\/\/|\/\.\.?(?:\/|$)/.test(spelled) || query.includes("#")) return undefined;
  return `${spelled || "/"}${query}`;
}

const unreserved = /^[A-Za-z0-9._~-]$/;
