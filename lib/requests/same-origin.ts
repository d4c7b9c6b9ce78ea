/**
 * Whether a state-changing request came from our own page: `Sec-Fetch-Site: same-origin`, or that header is absent and
 * `Origin` is exactly the configured origin. `null`, `none`, `same-site` and the absence of both are refused (section 10).
 * Source: Fetch Metadata Request Headers, RFC 6454.
 */
export function isSameOrigin(headers: Headers, publicUrl: string): boolean {
  const site = headers.get("sec-fetch-site");
  return site === null ? headers.get("origin") === publicUrl : site === "same-origin";
}
