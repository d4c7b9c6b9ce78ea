import { describe, expect, it } from "vitest";
import { contentSecurityPolicy, securityHeaders } from "@/lib/requests/security-headers";
import { sessionCookieName, sessionCookieOptions } from "@/lib/sessions/session";

describe("what every page is sent with", () => {
  it("is exactly the policy of the contract", () => {
    expect(contentSecurityPolicy("N", false)).toBe(
      "default-src 'none'; script-src 'nonce-N' 'strict-dynamic'; style-src 'self' 'nonce-N'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
    );
  });

  it("on https adds HSTS and cookies that no other host or plain connection can set", () => {
    const https = securityHeaders("https://approve.example.com");
    expect(https).toEqual({
      "Cache-Control": "no-store",
      "Cross-Origin-Opener-Policy": "same-origin",
      "Cross-Origin-Resource-Policy": "same-origin",
      "Permissions-Policy": expect.stringContaining("camera=()"),
      "Referrer-Policy": "same-origin",
      "X-Content-Type-Options": "nosniff",
      "X-Frame-Options": "DENY",
      "Strict-Transport-Security": expect.stringMatching(/^max-age=31536000/),
    });
    expect(Object.keys(securityHeaders("http://localhost:3000"))).not.toContain("Strict-Transport-Security");
    expect([
      sessionCookieName("https://approve.example.com"),
      sessionCookieOptions("https://approve.example.com"),
    ]).toEqual(["__Host-countersign.session", { httpOnly: true, sameSite: "lax", path: "/", secure: true }]);
  });
});
