import { z } from "zod";
import { faultOfTenant, type OidcProvider, providerSchema } from "./provider";

/** A provider whose every field is set; `subjectIssuer` is the issuer where it was not. */
export type ConfiguredProvider = Omit<OidcProvider, "subjectIssuer"> & { subjectIssuer: string };

/**
 * The sign-in services in `OIDC_PROVIDERS` (a JSON array), judged by themselves, against each other and against
 * `OIDC_IMMUTABLE_CLAIMS`. All faults, each with its path; no value that was set is in any of them, for one may be a secret.
 */
export function parseProviders(given: Record<string, string | undefined>): {
  providers: ConfiguredProvider[];
  faults: string[];
} {
  const immutable = (given["OIDC_IMMUTABLE_CLAIMS"] ?? "").split(/[\s,]+/).filter(Boolean);
  const faults = immutable.filter(isMutableClaim).map((name) => `OIDC_IMMUTABLE_CLAIMS: ${name} ${mutable}`);
  const entries = readArray(given["OIDC_PROVIDERS"]);
  if (!entries) return { providers: [], faults: [...faults, "OIDC_PROVIDERS: must be a JSON array of providers"] };
  const providers: ConfiguredProvider[] = [];
  entries.forEach((entry, index) => {
    const parsed = providerSchema.safeParse(entry);
    if (parsed.success)
      providers.push({ ...parsed.data, subjectIssuer: parsed.data.subjectIssuer ?? parsed.data.issuer });
    else faults.push(...parsed.error.issues.map((issue) => `${pathOf(index, issue.path)}: ${messageOf(issue)}`));
    faults.push(...subjectFaults(entry, immutable).map(([field, text]) => `${pathOf(index, [field])}: ${text}`));
  });
  return { providers, faults: [...faults, ...twiceFaults(entries)] };
}

function readArray(text: string | undefined): unknown[] | undefined {
  if (text === undefined) return [];
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.length <= 20 ? value : undefined;
  } catch {
    // The parser's own message quotes what it read.
    return undefined;
  }
}

/** Judged on the entry as it was written, so that these are told together with the faults of its fields. */
function subjectFaults(entry: unknown, immutable: string[]): [field: string, text: string][] {
  const { subjectClaim, tenantId, subjectIssuer } = stringsOf(entry);
  const faults: [string, string][] = [];
  if (subjectClaim !== undefined && isMutableClaim(subjectClaim))
    faults.push(["subjectClaim", `${subjectClaim} ${mutable}`]);
  else if (subjectClaim !== undefined && !["sub", "oid", ...immutable].includes(subjectClaim))
    faults.push(["subjectClaim", "must be sub, oid, or a name in OIDC_IMMUTABLE_CLAIMS"]);
  if (subjectClaim === "oid" && tenantId === undefined)
    faults.push(["tenantId", "is required for oid, which is unique within a tenant only"]);
  const tenantFault = subjectIssuer === undefined ? undefined : faultOfTenant(subjectIssuer);
  if (tenantFault) faults.push(["subjectIssuer", tenantFault]);
  return faults;
}

/** Two ways to one subject would let whoever controls either of the claims be the other's people. */
function twiceFaults(entries: unknown[]): string[] {
  const faults: string[] = [];
  const seen = { id: new Map<string, number>(), subject: new Map<string, number>(), client: new Map<string, number>() };
  entries.forEach((entry, index) => {
    const { id, issuer, clientId, subjectIssuer = issuer } = stringsOf(entry);
    const compare = (map: Map<string, number>, key: string | undefined, field: string, text: string) => {
      if (key === undefined) return;
      const before = map.get(key);
      if (before === undefined) map.set(key, index);
      else faults.push(`${pathOf(index, [field])}: ${text} OIDC_PROVIDERS[${before}]`);
    };
    compare(seen.id, id, "id", "is that of");
    compare(seen.subject, subjectIssuer, "subjectIssuer", "would make its people those of");
    if (issuer !== undefined && clientId !== undefined)
      compare(seen.client, `${issuer}\n${clientId}`, "clientId", "is registered at the same issuer already, by");
  });
  return faults;
}

/** The fields of an entry that are strings, whatever else is wrong with it. */
function stringsOf(entry: unknown): Record<string, string | undefined> {
  const parsed = z.record(z.string(), z.unknown()).safeParse(entry);
  return Object.fromEntries(
    Object.entries(parsed.data ?? {}).filter(([, value]) => typeof value === "string"),
  ) as Record<string, string>;
}

function pathOf(index: number, path: readonly PropertyKey[]): string {
  const steps = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`));
  return `OIDC_PROVIDERS[${index}]${steps.join("")}`;
}

function messageOf(issue: z.core.$ZodIssue): string {
  return issue.code === "unrecognized_keys"
    ? `${issue.keys.map((key) => (/^\w{1,40}$/.test(key) ? key : "a name")).join(", ")} is no setting of a provider`
    : issue.message;
}

const mutable = "can be changed by its holder or given to somebody else: it can never be a subject";

/**
 * Claims that name a person but not for good: an address, a number or a name is reassigned, and at some providers chosen freely. OpenID
 * Connect Core 1.0 section 5.7 allows `sub` with `iss` alone. Names are compared without case and signs, and by their last part.
 */
function isMutableClaim(claim: string): boolean {
  const name = claim.split(/[/#:]/).at(-1) ?? "";
  return mutableClaims.has(name.toLowerCase().replaceAll(/[^a-z0-9]/g, ""));
}

const mutableClaims = new Set([
  "email",
  "emails",
  "emailaddress",
  "emailverified",
  "mail",
  "verifiedprimaryemail",
  "verifiedsecondaryemail",
  "preferredusername",
  "username",
  "login",
  "loginhint",
  "upn",
  "userprincipalname",
  "uniquename",
  "samaccountname",
  "name",
  "displayname",
  "nickname",
  "givenname",
  "familyname",
  "middlename",
  "phonenumber",
  "phone",
  "mobile",
  "website",
  "profile",
  "picture",
  "birthdate",
  "groups",
  "roles",
]);
