import { z } from "zod";
import { isLoopbackHost } from "../requests/loopback";
import { isOneLine } from "../text/one-line";

/** A sign-in service (OpenID provider) as the operator configured it; see `providerSchema` for what each field may be. */
export type OidcProvider = z.output<typeof providerSchema>;

const text = (max: number) => z.string().min(1, "must not be empty").max(max, `must have ${max} characters or less`);

/** Names under which next-auth or this service answers something else. */
const takenIds = new Set(["credentials", "passkey"]);

/** OpenID Connect Discovery 1.0 section 3: an https URL without query or fragment; http is for loopback only. One tenant, and no template. */
const issuer = text(2_000).superRefine((value, context) => {
  const fault = faultOfIssuer(value);
  if (fault) context.addIssue({ code: "custom", message: fault });
});

function faultOfIssuer(value: string): string | undefined {
  if (!URL.canParse(value) || value !== value.trim()) return "must be a URL such as https://login.example.com";
  const url = new URL(value);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopbackHost(url.hostname)))
    return "must be https (http is for loopback only)";
  if (url.username || url.password) return "must hold no user name or password";
  if (!hostName.test(url.host)) return "must name one host";
  if (value.includes("?") || value.includes("#")) return "must hold neither query nor fragment";
  return faultOfTenant(value);
}

/** An issuer that stands for many: whoever runs any tenant of it could give its people any subject. */
export function faultOfTenant(issuerText: string): string | undefined {
  if (/[{}]|%7b|%7d/i.test(issuerText)) return "must be the issuer of one tenant, not a template";
  const segments = issuerText.toLowerCase().split(/[/?#]/);
  return segments.some((segment) => manyTenants.has(segment))
    ? "must be the issuer of one tenant, not one that many share"
    : undefined;
}

/** What stands in a Content-Security-Policy as it is: there `*`, `;` and `,` would mean something. */
const hostName = /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:]+\])(?::\d+)?$/;

const manyTenants = new Set(["common", "organizations", "consumers"]);

const origin = text(300).refine(
  (value) =>
    URL.canParse(value) &&
    new URL(value).origin === value &&
    hostName.test(new URL(value).host) &&
    (value.startsWith("https:") || isLoopbackHost(new URL(value).hostname)),
  "must be an https origin such as https://login.example.com",
);

/** Asymmetric algorithms only: the client secret must not be able to sign an ID token. */
const signingAlgs = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"] as const;

const roles = z.strictObject({
  claim: text(200),
  auditor: z.array(text(500)).min(1, "must name one value or more").max(100),
  admin: z.undefined("is given by hand (countersign users roles), never by a claim").optional(),
});

export const providerSchema = z.strictObject({
  /** In the addresses of sign-in and callback. */
  id: text(32)
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "must be lower-case letters, digits and single hyphens")
    .refine((id) => !takenIds.has(id), "is a name that this service uses itself"),
  /** What the button is called. */
  label: text(60).refine(isOneLine, "must be one visible line"),
  issuer,
  clientId: text(500),
  clientSecret: text(2_000),
  /** Beside `openid`. */
  scopes: z
    .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/, "must be a scope (RFC 6749 section 3.3)"))
    .max(50)
    .default(["profile", "email"]),
  /** The claim whose value is the subject: `sub`, `oid`, or a name in `OIDC_IMMUTABLE_CLAIMS`. */
  subjectClaim: text(200).default("sub"),
  /** `iss` of the people who sign in here, where their calls carry another one than this provider's. */
  subjectIssuer: text(2_000).optional(),
  /** Compared with the claim `tid`; required for `oid`, which is unique within a tenant only. */
  tenantId: text(200).optional(),
  idTokenAlg: z.enum(signingAlgs).default("RS256"),
  /** Whether somebody who was never here before becomes a user by signing in. */
  createUsers: z.boolean().default(true),
  roles: roles.optional(),
  /** Further origins that its login passes through: a browser follows a form's redirects to no others. */
  origins: z.array(origin).max(20).default([]),
});
