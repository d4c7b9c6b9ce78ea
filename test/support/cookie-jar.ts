export type Cookie = { host: string; path: string; name: string; value: string; expiresAt: number | undefined };
export type Jar = Cookie[];

/** The `Cookie` header of a request, or an empty text (RFC 6265 section 5.4). As browsers do, cookies are by host, not by port. */
export function cookiesFor(jar: Jar, url: string): string {
  const { hostname, pathname } = new URL(url);
  return jar
    .filter(({ host, path, expiresAt }) => {
      const isPath = pathname === path || pathname.startsWith(path.endsWith("/") ? path : `${path}/`);
      return host === hostname && isPath && (expiresAt === undefined || expiresAt > Date.now());
    })
    .map(({ name, value }) => `${name}=${value}`)
    .join("; ");
}

/** Takes `Set-Cookie` headers into the jar (RFC 6265 section 5.3). */
export function keepCookies(jar: Jar, url: string, setCookies: string[]): void {
  const { hostname: host, pathname } = new URL(url);
  for (const text of setCookies) {
    const [pair = "", ...attributes] = text.split(";").map((part) => part.trim());
    const name = pair.slice(0, pair.indexOf("="));
    const value = pair.slice(pair.indexOf("=") + 1);
    const attribute = (wanted: string) =>
      attributes.find((part) => part.toLowerCase().startsWith(`${wanted}=`))?.slice(wanted.length + 1);
    const given = attribute("path");
    const path = given?.startsWith("/") ? given : pathname.slice(0, Math.max(1, pathname.lastIndexOf("/")));
    const maxAge = attribute("max-age");
    const expires = attribute("expires");
    const expiresAt =
      maxAge !== undefined
        ? Date.now() + Number(maxAge) * 1000
        : expires === undefined
          ? undefined
          : Date.parse(expires);
    const before = jar.findIndex((cookie) => cookie.host === host && cookie.path === path && cookie.name === name);
    if (before >= 0) jar.splice(before, 1);
    if (expiresAt === undefined || expiresAt > Date.now()) jar.push({ host, path, name, value, expiresAt });
  }
}
