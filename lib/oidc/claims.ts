import { withoutHidden } from "../text/hidden";
import type { ConfiguredProvider } from "./parse-providers";

/** What a provider's ID token proves, with what it merely says. */
export type ProvedIdentity = {
  iss: string;
  sub: string;
  /** `auth_time`, in seconds since the epoch, as the provider says it; undefined where it says none. */
  authTime: number | undefined;
  /** RFC 8176. */
  amr: string[];
  /** For display only: anybody may be called anything. */
  name: string;
  contact: string | null;
  /** Undefined where this provider gives no roles. */
  isAuditor: boolean | undefined;
};

/** `issuer`: not the configured one; `tenant`: not the pinned one; `subject`: the claim is not there, or is none that can be compared. */
export type ClaimFault = "issuer" | "tenant" | "subject";

/**
 * Reads the verified claims of an ID token by the provider's configuration. The signature, `aud`, `exp` and `nonce` are checked before;
 * `iss` is compared once more, with the configuration, because discovery may have said another one (OpenID Connect Discovery 1.0 section
 * 4.3).
 */
export function identityFromClaims(
  provider: ConfiguredProvider,
  claims: Record<string, unknown>,
): { ok: true; identity: ProvedIdentity } | { ok: false; fault: ClaimFault } {
  if (claims["iss"] !== provider.issuer) return { ok: false, fault: "issuer" };
  if (provider.tenantId !== undefined && claims["tid"] !== provider.tenantId) return { ok: false, fault: "tenant" };
  const sub = Object.hasOwn(claims, provider.subjectClaim) ? claims[provider.subjectClaim] : undefined;
  if (typeof sub !== "string" || !isComparable(sub)) return { ok: false, fault: "subject" };
  const contact = shown(claims["email"], 254);
  return {
    ok: true,
    identity: {
      iss: provider.subjectIssuer,
      sub,
      authTime: authTimeOf(claims["auth_time"]),
      amr: stringsOf(claims["amr"]),
      name: shown(claims["name"], 100) ?? contact ?? shown(sub, 100) ?? "?",
      contact,
      isAuditor: provider.roles && isOneOf(claims[provider.roles.claim], provider.roles.auditor),
    },
  };
}

/** As a caller's `sub` may be (section 6), and so that the database keeps it as it is. */
const isComparable = (sub: string) => sub !== "" && sub.length <= 500 && !/[\p{Cc}\p{Cs}]/u.test(sub);

const authTimeOf = (value: unknown) =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? Math.floor(value) : undefined;

function stringsOf(value: unknown): string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string" && item.length <= 100)
    ? value.slice(0, 20)
    : [];
}

function isOneOf(value: unknown, wanted: string[]): boolean {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.some((item) => typeof item === "string" && wanted.includes(item));
}

/** One visible line, bounded; null where nothing of it can be seen. */
function shown(value: unknown, max: number): string | null {
  if (typeof value !== "string") return null;
  const line = withoutHidden(value).replaceAll(/ +/g, " ").trim();
  return line === "" ? null : [...line].slice(0, max).join("").trim();
}
