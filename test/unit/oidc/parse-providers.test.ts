import { describe, expect, it } from "vitest";
import { ConfigError, parseConfig } from "@/lib/config";
import { refuseOwnIssuer } from "@/lib/oidc/own-issuer";

const secret = "a-secret-that-nobody-may-read-in-a-log";
const acme = {
  id: "acme",
  label: "Acme",
  issuer: "https://login.example.com/tenant-1",
  clientId: "countersign",
  clientSecret: secret,
};

function faults(providers: unknown, env: Record<string, string> = {}): readonly string[] {
  try {
    parseConfig({ OIDC_PROVIDERS: typeof providers === "string" ? providers : JSON.stringify(providers), ...env });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    expect(error.message).not.toContain(secret);
    return error.faults;
  }
}

describe("the sign-in services in the configuration", () => {
  it("are none by default, and each has defaults for what need not be said", () => {
    expect(parseConfig({}).oidcProviders).toEqual([]);
    expect(parseConfig({ OIDC_PROVIDERS: JSON.stringify([acme]) }).oidcProviders).toEqual([
      {
        ...acme,
        scopes: ["profile", "email"],
        subjectClaim: "sub",
        subjectIssuer: acme.issuer,
        idTokenAlg: "RS256",
        createUsers: true,
        origins: [],
      },
    ]);
  });

  it("tell all faults together, each with its path, beside those of other variables", () => {
    const broken = [
      { ...acme, issuer: "http://login.example.com", subjectClaim: "email", colour: "red" },
      { ...acme, issuer: "http://login.example.com", id: "Two words", clientSecret: 7 },
    ];
    expect(faults(broken, { PORT: "0" })).toEqual([
      "PORT: must be 1 or more",
      "OIDC_PROVIDERS[0].issuer: must be https (http is for loopback only)",
      "OIDC_PROVIDERS[0]: colour is no setting of a provider",
      expect.stringMatching(/^OIDC_PROVIDERS\[0\]\.subjectClaim: email can be changed/),
      expect.stringMatching(/^OIDC_PROVIDERS\[1\]\.id: must be lower-case/),
      "OIDC_PROVIDERS[1].issuer: must be https (http is for loopback only)",
      expect.stringMatching(/^OIDC_PROVIDERS\[1\]\.clientSecret: /),
      expect.stringMatching(/^OIDC_PROVIDERS\[1\]\.subjectIssuer: would make its people/),
      "OIDC_PROVIDERS[1].clientId: is registered at the same issuer already, by OIDC_PROVIDERS[0]",
    ]);
  });

  it("say of text that is no JSON, or no list, only that: what stands there may be a secret", () => {
    for (const text of [`[{"clientSecret":"${secret}"`, secret, "{}", "null", `"${secret}"`, "7"])
      expect(faults(text)).toEqual(["OIDC_PROVIDERS: must be a JSON array of providers"]);
    for (const entry of [secret, [secret], null, 7, { [secret]: 1 }, { ...acme, [`${secret}=1`]: 1 }])
      expect(faults([entry]).length).toBeGreaterThan(0);
  });

  it.each([
    ["http://login.example.com", "https"],
    ["login.example.com", "URL"],
    [" https://login.example.com", "URL"],
    ["https://user:pass@login.example.com", "user name"],
    ["https://login.example.com?x=1", "query"],
    ["https://login.example.com#x", "fragment"],
    ["https://login.example.com?", "query"],
    ["ftp://login.example.com", "https"],
    ["https://*.example.com", "one host"],
    ["https://login.example.com;x", "one host"],
    ["https://login.microsoftonline.com/{tenantid}/v2.0", "template"],
    ["https://login.microsoftonline.com/%7Btenantid%7D/v2.0", "template"],
    ["https://login.microsoftonline.com/common/v2.0", "one tenant"],
    ["https://login.microsoftonline.com/Organizations/v2.0", "one tenant"],
    ["https://login.microsoftonline.com/consumers", "one tenant"],
  ])("do not take %s as an issuer", (issuer, word) => {
    const told = faults([{ ...acme, issuer }]);
    expect(told[0]).toMatch(/^OIDC_PROVIDERS\[0\]\.issuer: /);
    expect(told[0]).toContain(word);
  });

  it("take http on loopback, where there is no network to listen on", () => {
    for (const issuer of ["http://localhost:4000", "http://127.0.0.1:4000/x", "http://[::1]:4000"])
      expect(faults([{ ...acme, issuer }])).toEqual([]);
  });

  it.each([
    "email",
    "Email",
    "E-Mail",
    "preferred_username",
    "upn",
    "unique_name",
    "name",
    "nickname",
    "phone_number",
    "https://example.com/claims/email",
    "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
    "urn:x:preferred_username",
  ])("never take the claim %s as a subject, though it is on the list of immutable ones", (subjectClaim) => {
    const told = faults([{ ...acme, subjectClaim }], { OIDC_IMMUTABLE_CLAIMS: subjectClaim });
    expect(told).toHaveLength(2);
    expect(told[0]).toMatch(/^OIDC_IMMUTABLE_CLAIMS: /);
    expect(told[1]).toMatch(/^OIDC_PROVIDERS\[0\]\.subjectClaim: /);
  });

  it("take another claim as a subject only where it is on that list", () => {
    const mapped = [{ ...acme, subjectClaim: "employee_id" }];
    expect(faults(mapped)).toEqual([
      "OIDC_PROVIDERS[0].subjectClaim: must be sub, oid, or a name in OIDC_IMMUTABLE_CLAIMS",
    ]);
    expect(faults(mapped, { OIDC_IMMUTABLE_CLAIMS: "person_id, employee_id" })).toEqual([]);
    expect(faults(mapped, { OIDC_IMMUTABLE_CLAIMS: "Employee_id" })).toHaveLength(1);
  });

  it("want the tenant pinned for oid", () => {
    expect(faults([{ ...acme, subjectClaim: "oid" }])).toEqual([
      expect.stringMatching(/^OIDC_PROVIDERS\[0\]\.tenantId: is required for oid/),
    ]);
    expect(faults([{ ...acme, subjectClaim: "oid", tenantId: "t-1" }])).toEqual([]);
  });

  it("refuse two with one subject issuer, one id, or one registration, and a subject issuer of many tenants", () => {
    const other = { ...acme, id: "other", issuer: "https://other.example.com" };
    expect(faults([acme, other])).toEqual([]);
    expect(faults([acme, { ...other, subjectIssuer: acme.issuer }])).toEqual([
      "OIDC_PROVIDERS[1].subjectIssuer: would make its people those of OIDC_PROVIDERS[0]",
    ]);
    expect(faults([acme, { ...other, id: "acme" }])).toEqual(["OIDC_PROVIDERS[1].id: is that of OIDC_PROVIDERS[0]"]);
    expect(faults([acme, { ...acme, id: "again", subjectIssuer: "https://x.example" }])).toEqual([
      "OIDC_PROVIDERS[1].clientId: is registered at the same issuer already, by OIDC_PROVIDERS[0]",
    ]);
    const shared = { ...other, subjectIssuer: "https://sts.example.com/common/" };
    expect(faults([shared])).toEqual([expect.stringMatching(/^OIDC_PROVIDERS\[0\]\.subjectIssuer: .*one tenant/)]);
  });

  it("give auditor by a claim, and admin never", () => {
    expect(faults([{ ...acme, roles: { claim: "groups", auditor: ["auditors"] } }])).toEqual([]);
    expect(faults([{ ...acme, roles: { claim: "groups", auditor: ["auditors"], admin: ["admins"] } }])).toEqual([
      "OIDC_PROVIDERS[0].roles.admin: is given by hand (countersign users roles), never by a claim",
    ]);
    expect(faults([{ ...acme, roles: { claim: "groups", auditor: [] } }])).toHaveLength(1);
  });

  it("take no algorithm that the client's own secret, or nobody, could sign with", () => {
    for (const idTokenAlg of ["none", "HS256", "rs256", ""])
      expect(faults([{ ...acme, idTokenAlg }])[0]).toMatch(/^OIDC_PROVIDERS\[0\]\.idTokenAlg: /);
    expect(faults([{ ...acme, idTokenAlg: "ES256" }])).toEqual([]);
  });

  it("refuse ids and origins that would be something else", () => {
    for (const id of ["credentials", "passkey", "A", "a b", "a/b", "-a", "", "a".repeat(33)])
      expect(faults([{ ...acme, id }])[0]).toMatch(/^OIDC_PROVIDERS\[0\]\.id: /);
    for (const origin of [
      "https://x.example/path",
      "http://x.example",
      "*",
      "https://*.example",
      "'self'; script-src *",
    ])
      expect(faults([{ ...acme, origins: [origin] }])[0]).toMatch(/^OIDC_PROVIDERS\[0\]\.origins\[0\]: /);
  });
});

describe("a provider whose people would be this service's own", () => {
  it.each([
    ["the issuer of the service", "https://old.example.com"],
    ["its public address", "https://approve.example.com"],
    ["its public address with a slash", "https://approve.example.com/"],
    ["its public address in capitals", "https://APPROVE.example.com"],
  ])("stops the start: %s", (_which, subjectIssuer) => {
    const config = parseConfig({
      COUNTERSIGN_URL: "https://approve.example.com",
      OIDC_PROVIDERS: JSON.stringify([
        acme,
        { ...acme, id: "own", issuer: "https://other.example.com", subjectIssuer },
      ]),
    });
    expect(() => refuseOwnIssuer(config, "https://old.example.com")).toThrow(
      /OIDC_PROVIDERS\[1\]\.subjectIssuer: is this service itself/,
    );
  });

  it("does not stop it where it is not", () => {
    const config = parseConfig({ OIDC_PROVIDERS: JSON.stringify([acme]) });
    expect(() => refuseOwnIssuer(config, "http://localhost:3000")).not.toThrow();
  });
});
