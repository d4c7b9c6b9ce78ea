import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalTarget } from "@/lib/surfaces/canonical";

describe("the one spelling of a request target", () => {
  it.each([
    ["/admin", "/admin"],
    ["/a/apr_0123456789abcdefghjkmnpqrs", "/a/apr_0123456789abcdefghjkmnpqrs"],
    ["/a/apr%5F01", "/a/apr_01"],
    ["/%61dmin", "/admin"],
    ["/%61%64%6D%69%6e/clients?x=%2F", "/admin/clients?x=%2F"],
    ["/inbox/", "/inbox/"],
    ["http://evil.example/admin?x=1", "/admin?x=1"],
    ["HTTPS://u:p@evil.example:99", "/"],
    ["http://evil.example?to=/admin", "/?to=/admin"],
    ["/?to=//evil/..%2f", "/?to=//evil/..%2f"],
    ["/_next/static/chunks/2ib-ra81prjpe.js", "/_next/static/chunks/2ib-ra81prjpe.js"],
  ])("%s is %s", (target, spelled) => {
    expect(canonicalTarget(target)).toBe(spelled);
  });

  it.each([
    "",
    "*",
    "admin",
    "//admin",
    "/admin//clients",
    "/a/../admin",
    "/a/%2e%2e/admin",
    "/a/%2E./admin",
    "/a/..",
    "/./admin",
    "/a/..%2fadmin",
    "/a/..%5cadmin",
    "/%2561dmin",
    "/%2fadmin",
    "/%5cadmin",
    "/\\admin",
    "/a\\..\\admin",
    "/admin;x",
    "/admin;/x",
    "/admin%00",
    "/admin%0a",
    "/admin%20",
    "/admin%ff",
    "/admin%",
    "/admin%zz",
    "/admin#x",
    "/a#/../admin",
    "/?x#y",
    "/ａdmin",
    "/%EF%BD%81dmin",
    "file:///admin",
    "evil.example:443",
    "http:/admin",
    "/\u0000admin",
  ])("%j has none", (target) => {
    expect(canonicalTarget(target)).toBeUndefined();
  });

  it("is one that no parser reads otherwise: WHATWG finds the same path in it, decoded or not, and spelling it again changes nothing", () => {
    const pieces = fc.constantFrom(
      ..."/ /a /admin .. . %2e %2E %2f %5c %25 %61 %64 \\ ; ? # @ : // http:// localhost é %C3%A9 %00 admin audit api v1".split(
        " ",
      ),
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), fc.boolean(), (parts, isRooted) => {
        const spelled = canonicalTarget(`${isRooted ? "/" : ""}${parts.join("")}`);
        if (spelled === undefined) return;
        const path = spelled.split("?", 1)[0] ?? "";
        const parsed = new URL(spelled, "http://localhost");
        expect([parsed.host, parsed.pathname, decodeURIComponent(path)]).toEqual(["localhost", path, path]);
        expect(canonicalTarget(spelled)).toBe(spelled);
      }),
      { numRuns: 5_000 },
    );
  });
});
