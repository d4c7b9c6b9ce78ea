import { joinPolicies, type OutboundPolicy, parseOutboundAllow } from "../outbound/policy";
import { isLoopbackHost } from "../requests/loopback";
import type { ConfiguredProvider } from "./parse-providers";

/**
 * Whom sign-in may call: what `OUTBOUND_ALLOW` allows, and the host and port of each issuer on loopback, which its very address in
 * `OIDC_PROVIDERS` is the operator's word for. Nothing that a provider answers adds to it. One policy for all providers: openid-client
 * keeps its HTTP options once a process, so that two sign-ins at a time would otherwise use each other's.
 */
export function oidcOutboundPolicy(allowed: OutboundPolicy, providers: readonly ConfiguredProvider[]): OutboundPolicy {
  const loopback = providers.map(({ issuer }) => new URL(issuer)).filter((url) => isLoopbackHost(url.hostname));
  const entries = loopback.map((url) => `${url.hostname}:${url.port || (url.protocol === "https:" ? 443 : 80)}`);
  return joinPolicies(allowed, parseOutboundAllow(entries.join()).policy);
}
