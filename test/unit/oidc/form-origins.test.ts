import { describe, expect, it } from "vitest";
import { contentSecurityPolicy, formOriginsOf } from "@/lib/requests/security-headers";

const providers = [
  { issuer: "https://login.example.com/tenant", origins: ["https://sso.example.com"] },
  { issuer: "http://127.0.0.1:4000", origins: ["https://sso.example.com"] },
];
const all = ["https://login.example.com", "https://sso.example.com", "http://127.0.0.1:4000"];

describe("where a form may lead", () => {
  it.each(["/signin", "/account", "/account/sign-in-again", "/a/apr_0/sign-in-again", "/a/nonsense/sign-in-again/"])(
    "on %s: to the providers too, once each",
    (path) => {
      expect(formOriginsOf(path, providers)).toEqual(all);
    },
  );

  it.each([
    "/",
    "/inbox",
    "/a/apr_0",
    "/a/apr_0/not-requested",
    "/audit",
    "/admin",
    "/signin/x",
    "/account/x",
    "/x/signin",
  ])("on %s: to ourselves alone", (path) => {
    expect(formOriginsOf(path, providers)).toEqual([]);
  });

  it("stands in the policy's last directive, and nothing else changes", () => {
    const plain = contentSecurityPolicy("N", false);
    expect(contentSecurityPolicy("N", false, all)).toBe(`${plain} ${all.join(" ")}`);
    expect(plain.endsWith("form-action 'self'")).toBe(true);
  });
});
