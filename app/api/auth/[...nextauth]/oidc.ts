import type { Agent } from "node:http";
import type { OAuthConfig } from "next-auth/providers/oauth";
import type { ConfiguredProvider } from "@/lib/oidc/parse-providers";
import { guardedAgent } from "@/lib/outbound/guarded-agent";
import type { OutboundPolicy } from "@/lib/outbound/policy";

/** What one sign-in asks of the provider (OpenID Connect Core 1.0 section 3.1.2.1); `max_age` in seconds. */
export type Asked = { max_age: number; prompt?: "login" };

type Claims = Record<string, unknown>;

/**
 * A configured provider as next-auth takes it: authorization code with PKCE (RFC 7636), state and nonce; the answer in the query, where
 * openid-client compares `iss` (RFC 9207), and demands it of a provider that announces it. Nothing of the claims is taken here.
 */
export function oidcProvider(
  provider: ConfiguredProvider,
  asked: Asked | undefined,
  wayOut: Agent,
): OAuthConfig<Claims> {
  return {
    id: provider.id,
    name: provider.label,
    type: "oauth",
    // OpenID Connect Discovery 1.0 section 4.1: a terminating slash of the issuer is removed.
    wellKnown: `${provider.issuer.replace(/\/$/, "")}/.well-known/openid-configuration`,
    idToken: true,
    checks: ["pkce", "state", "nonce"],
    clientId: provider.clientId,
    clientSecret: provider.clientSecret,
    client: { id_token_signed_response_alg: provider.idTokenAlg },
    authorization: {
      params: {
        scope: [...new Set(["openid", ...provider.scopes])].join(" "),
        response_mode: "query",
        ...asked,
      },
    },
    // Discovery, keys, token and userinfo: openid-client makes each of its requests with these, and follows no redirect.
    httpOptions: { agent: wayOut, timeout: answerTimeoutMs },
    profile: (claims) => ({ id: String(claims["sub"]) }),
  };
}

/** The way to every provider. All that a provider answers, the addresses of its endpoints too, is judged there like anything else. */
export function oidcWayOut(policy: OutboundPolicy): Agent {
  return guardedAgent(policy, { timeoutMs: answerTimeoutMs, maxBytes: maxAnswerBytes });
}

/** For each of discovery, keys and token: somebody is waiting. */
const answerTimeoutMs = 8_000;

/** Key sets with certificate chains are the longest, at some tens of kilobytes. */
const maxAnswerBytes = 1_048_576;
