import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Surface, surfaces } from "@/lib/surfaces/parse";
import { hasPages, routeTarget } from "@/lib/surfaces/route";

const on = (...names: Surface[]) => new Set(names);
const unknown = (handler: string) => ({ handler, target: "/unknown", path: "/unknown" });

/** A path, what handles it, and the surfaces that it is on. */
const table: [path: string, handler: string, surfaces: readonly Surface[]][] = [
  ["/", "pages", ["pages"]],
  ["/a/apr_01", "pages", ["pages"]],
  ["/a/apr_01/decision", "pages", ["pages"]],
  ["/inbox", "pages", ["pages"]],
  ["/signin", "pages", ["pages", "admin", "audit"]],
  ["/signin/passkey-challenge", "pages", ["pages", "admin", "audit"]],
  ["/signout", "pages", ["pages", "admin", "audit"]],
  ["/account", "pages", ["pages", "admin", "audit"]],
  ["/account/sign-in-again", "pages", ["pages", "admin", "audit"]],
  ["/api/auth/callback/local", "pages", ["pages", "admin", "audit"]],
  ["/locale", "pages", ["pages", "admin", "audit"]],
  ["/icon.svg", "pages", ["pages", "admin", "audit"]],
  ["/_next/static/chunks/x.js", "pages", ["pages", "admin", "audit"]],
  ["/admin", "pages", ["admin"]],
  ["/admin/clients/cli_1/freeze", "pages", ["admin"]],
  ["/admin/webhooks", "pages", ["admin"]],
  ["/audit", "pages", ["audit"]],
  ["/audit/apr_01", "pages", ["audit"]],
  ["/api/v1/approvals", "machine", ["api"]],
  ["/api/v1/openapi.json", "machine", ["api"]],
  ["/.well-known/jwks.json", "machine", ["pages", "api"]],
  ["/.well-known/countersign", "machine", ["pages", "api"]],
  ["/metrics", "metrics", ["metrics"]],
  ["/healthz", "machine", surfaces],
  ["/readyz", "machine", surfaces],
];

describe("which surface a path is on", () => {
  it.each(table)("%s is handled as %s on %j, and unknown everywhere else", (path, handler, its) => {
    for (const surface of surfaces)
      expect(routeTarget(`${path}?x=1`, on(surface))).toEqual(
        its.includes(surface)
          ? { handler, target: `${path}?x=1`, path }
          : unknown(hasPages(on(surface)) ? "pages" : "machine"),
      );
  });

  it.each([
    "/administrator",
    "/admin.rsc",
    "/admin.txt",
    "/admin.segments/_tree.segment.rsc",
    "/ADMIN",
    "/Admin",
    "/auditor",
    "/metrics/",
    "/metrics/x",
    "/healthz/",
    "/api",
    "/api/v2/approvals",
    "/_next",
    "/_next/data/build/admin.json",
    "/_next/image",
    "/_next/staticx",
    "/__nextjs_original-stack-frame",
    "/_not-found",
    "/index",
    "/unknown",
    "/favicon.ico",
    "/hasOwnProperty",
    "/__proto__",
  ])("%s is on none", (path) => {
    expect(routeTarget(path, new Set(surfaces))).toEqual(unknown("pages"));
  });

  it("whatever the spelling, what is not on the listener becomes the request for an unknown path, and nothing else", () => {
    const piece = fc.constantFrom(
      ..."/ // a admin audit metrics api v1 auth _next static data .. . %2e%2e %2f %61 %5c \\ ; ? # .rsc .json http://x".split(
        " ",
      ),
    );
    const own = /^\/(?:admin|audit|metrics|api\/v1)(?:[/?]|$)/;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (parts) => {
        const route = routeTarget(parts.join(""), on("pages"));
        const decoded = decodeURIComponent(new URL(route.target, "http://localhost").pathname);
        expect(own.test(decoded)).toBe(false);
        expect(route.handler === "metrics").toBe(false);
      }),
      { numRuns: 5_000 },
    );
  });

  it("I2: an id that is not spelled like one is one that is not there, wherever approvals are", () => {
    for (const target of ["/a/%zz", "/a/..%2fadmin", "/a/é", "/a/a;b", "/a/../admin"])
      expect(routeTarget(target, on("pages"))).toEqual({
        handler: "pages",
        target: "/a/malformed",
        path: "/a/malformed",
      });
    expect(routeTarget("/a/%zz", on("admin"))).toEqual(unknown("pages"));
    expect(routeTarget("/a/%zz", on("api"))).toEqual(unknown("machine"));
  });

  it("only in development do Next's own tools have a place", () => {
    const target = "/_next/static/chunks/%5Broot%5D.js";
    expect(routeTarget(target, on("pages"), { dev: true }).target).toBe(target);
    expect(routeTarget(target, on("pages"))).toEqual(unknown("pages"));
    expect(routeTarget("/__nextjs_font/x", on("pages"), { dev: true }).target).toBe("/__nextjs_font/x");
  });
});
