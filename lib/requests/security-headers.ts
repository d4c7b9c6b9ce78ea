/**
 * The policy of section 10. `formOrigins` are those that a form of the page leads to beside our own. In development Next needs `eval` and a
 * socket to reload pages; nowhere else.
 */
export function contentSecurityPolicy(nonce: string, isDevelopment: boolean, formOrigins: string[] = []): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' 'strict-dynamic'${isDevelopment ? " 'unsafe-eval'" : ""}`,
    `style-src 'self' ${isDevelopment ? "'unsafe-inline'" : `'nonce-${nonce}'`}`,
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src 'self'${isDevelopment ? " ws:" : ""}`,
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ["form-action 'self'", ...formOrigins].join(" "),
  ].join("; ");
}

/**
 * Where the forms of a page may lead: on the pages with a button for a provider to its origins too, since browsers hold a form's redirects
 * against `form-action` as well (CSP level 3, section 6.4.1).
 */
export function formOriginsOf(path: string, providers: readonly { issuer: string; origins: string[] }[]): string[] {
  if (!withProviders.test(path)) return [];
  return [...new Set(providers.flatMap(({ issuer, origins }) => [new URL(issuer).origin, ...origins]))];
}

const withProviders = /^\/(?:signin|account|account\/sign-in-again|a\/[^/]+\/sign-in-again)\/?$/;

/** Sent with every page. `Referrer-Policy` is `same-origin`: `no-referrer` would make browsers send `Origin: null` with our own forms. */
export function securityHeaders(publicUrl: string): Record<string, string> {
  return {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    ...(publicUrl.startsWith("https:") ? { "Strict-Transport-Security": "max-age=31536000; includeSubDomains" } : {}),
  };
}
