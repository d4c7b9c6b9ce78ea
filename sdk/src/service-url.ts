const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * The origin of a Countersign URL. The API key travels there, so it must be https, or http on loopback, and nothing but an
 * origin.
 * @throws TypeError saying what is wrong, without the URL's userinfo
 */
export function serviceOrigin(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined) throw new TypeError("url is not a URL");
  if (parsed.username !== "" || parsed.password !== "")
    throw new TypeError("url must not hold a user name or password");
  if (parsed.pathname !== "/" || parsed.search !== "" || parsed.hash !== "") {
    throw new TypeError("url must be an origin, without path, query or fragment");
  }
  if (parsed.protocol !== "https:" && !(parsed.protocol === "http:" && LOOPBACK.has(parsed.hostname))) {
    throw new TypeError("url must be https, or http on loopback");
  }
  return parsed.origin;
}
