import { describe, expect, it } from "vitest";
import { parseConfig } from "@/lib/config";
import { identityFromClaims } from "@/lib/oidc/claims";

const issuer = "https://login.example.com";

function read(settings: object, claims: Record<string, unknown>) {
  const entry = { id: "acme", label: "Acme", issuer, clientId: "c", clientSecret: "s", ...settings };
  const env = { OIDC_PROVIDERS: JSON.stringify([entry]), OIDC_IMMUTABLE_CLAIMS: "employee_id" };
  const [provider] = parseConfig(env).oidcProviders;
  if (!provider) throw new Error("there is no provider");
  return identityFromClaims(provider, { iss: issuer, sub: "s-1", ...claims });
}

describe("who an ID token names", () => {
  it("is the issuer and sub, unless the configuration says another claim or another issuer", () => {
    expect(read({}, {})).toMatchObject({ ok: true, identity: { iss: issuer, sub: "s-1" } });
    expect(
      read({ subjectClaim: "employee_id", subjectIssuer: "https://as.example" }, { employee_id: "e-1" }),
    ).toMatchObject({ ok: true, identity: { iss: "https://as.example", sub: "e-1" } });
  });

  it.each([
    ["another issuer", "https://evil.example"],
    ["a slash more", `${issuer}/`],
    ["other capitals", "https://LOGIN.example.com"],
    ["none", undefined],
  ])("is nobody where the token says %s", (_what, iss) => {
    expect(read({}, { iss })).toEqual({ ok: false, fault: "issuer" });
  });

  it("is nobody of another tenant, and nobody without one, where one is pinned", () => {
    const pinned = { subjectClaim: "oid", tenantId: "t-1" };
    expect(read(pinned, { oid: "o-1", tid: "t-1" })).toMatchObject({ ok: true, identity: { sub: "o-1" } });
    for (const tid of ["t-2", "T-1", undefined, ["t-1"]])
      expect(read(pinned, { oid: "o-1", tid })).toEqual({ ok: false, fault: "tenant" });
    expect(read({ tenantId: "t-1" }, { tid: "t-2" })).toEqual({ ok: false, fault: "tenant" });
  });

  it.each([undefined, null, "", 7, true, ["e-1"], { a: 1 }, "e\u00001", "e\n1", "\ud800", "x".repeat(501)])(
    "is nobody where the claim is %j: it is compared as an exact text, or not at all",
    (value) => {
      expect(read({ subjectClaim: "employee_id" }, { employee_id: value })).toEqual({ ok: false, fault: "subject" });
    },
  );

  it("takes a claim of the token, never what every object has", () => {
    const env = { OIDC_IMMUTABLE_CLAIMS: "constructor" };
    const entry = { id: "a", label: "A", issuer, clientId: "c", clientSecret: "s", subjectClaim: "constructor" };
    const [provider] = parseConfig({ OIDC_PROVIDERS: JSON.stringify([entry]), ...env }).oidcProviders;
    if (!provider) throw new Error("there is no provider");
    expect(identityFromClaims(provider, { iss: issuer, sub: "s" })).toEqual({ ok: false, fault: "subject" });
  });

  it("keeps auth_time where it is a time, and amr where it is a list of texts", () => {
    const of = (claims: Record<string, unknown>) => {
      const result = read({}, claims);
      return result.ok ? [result.identity.authTime, result.identity.amr] : result;
    };
    expect(of({ auth_time: 1_700_000_000.9, amr: ["pwd", "mfa"] })).toEqual([1_700_000_000, ["pwd", "mfa"]]);
    for (const auth_time of [undefined, null, "1700000000", Number.NaN, Number.POSITIVE_INFINITY, -1, true])
      expect(of({ auth_time })).toEqual([undefined, []]);
    for (const amr of ["pwd", ["pwd", 1], { 0: "pwd" }, null]) expect(of({ amr })).toEqual([undefined, []]);
  });

  it("gives a role by an exact value, alone or in a list, and says nothing where the provider is not marked", () => {
    const roles = { claim: "groups", auditor: ["auditors", "revision"] };
    const of = (groups: unknown, settings: object = { roles }) => {
      const result = read(settings, { groups });
      return result.ok ? result.identity.isAuditor : result;
    };
    expect([of("auditors"), of(["staff", "revision"])]).toEqual([true, true]);
    for (const groups of [undefined, "Auditors", "auditors ", ["x"], [["auditors"]], { auditors: true }, "admin"])
      expect(of(groups)).toBe(false);
    expect(of(["auditors"], {})).toBeUndefined();
  });

  it("I11: a name and an address are one visible line of bounded length, and never who somebody is", () => {
    const of = (claims: Record<string, unknown>) => {
      const result = read({}, claims);
      return result.ok ? [result.identity.name, result.identity.contact] : result;
    };
    expect(of({ name: " Ada\u202E\n Lovelace\u200B ", email: "ada@x.example" })).toEqual([
      "Ada Lovelace",
      "ada@x.example",
    ]);
    expect(of({ email: "ada@x.example" })).toEqual(["ada@x.example", "ada@x.example"]);
    expect(of({ name: "\u200B", email: 7 })).toEqual(["s-1", null]);
    expect(of({ name: "名".repeat(200) })).toEqual(["名".repeat(100), null]);
  });
});
