import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { routeLabel } from "@/lib/metrics/route-label";

describe("the route of a request as a label", () => {
  it.each([
    ["/api/v1/approvals", "/api/v1/approvals"],
    ["/api/v1/approvals?limit=5", "/api/v1/approvals"],
    ["/api/v1/approvals/apr_1", "/api/v1/approvals/{id}"],
    ["/api/v1/approvals/apr_1?wait=0", "/api/v1/approvals/{id}"],
    ["/api/v1/approvals/apr_1?wait=25", "/api/v1/approvals/{id}?wait"],
    ["/api/v1/approvals/apr_1/consume?wait=25", "/api/v1/approvals/{id}/consume"],
    ["/a/apr_1", "/a/{id}"],
    ["/a/apr_1/decision", "/a/{id}/decision"],
    ["/a/apr_1/take-back", "/a/*"],
    ["/account/passkeys", "/account/*"],
    ["/admin", "/admin/*"],
    ["/_next/static/x.js", "/_next/*"],
    ["/.well-known/jwks.json", "/.well-known/*"],
    ["/xwell-known/", "other"],
    ["", "other"],
  ])("of %s is %s", (target, label) => expect(routeLabel(target)).toBe(label));

  it("is one of a few, whatever is asked for: nobody can fill the registry, or put an id into it", () => {
    const seen = new Set<string>();
    const part = fc.oneof(
      fc.string(),
      fc.constantFrom("api", "v1", "approvals", "a", "admin", "account", "..", "%2f", "{id}"),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        seen.add(routeLabel(`/${parts.join("/")}`));
        return seen.size <= 25;
      }),
      { numRuns: 2_000 },
    );
    for (const label of seen) expect(label).toMatch(/^(other|\/[a-z0-9_./{}*?-]*)$/);
  });
});
