import { isIP } from "node:net";
import { OutboundError } from "./error";
import { judgeAddress } from "./judge-address";
import { allowsAddress, allowsHost, type OutboundPolicy } from "./policy";
import type { Resolve, ResolvedAddress } from "./resolve";
import type { Target } from "./target";

/**
 * The addresses of a target, every one of which may be called: one that may not refuses the target, for a name that is half public is
 * wrong or hostile, and would be called or not by chance. Throws `OutboundError`: `dns_failed`, `url_refused` (http without the operator's
 * word) or `address_refused`. Messages name what the caller named, and tell nothing of its addresses but that one is not public.
 */
export async function admitTarget(
  policy: OutboundPolicy,
  target: Target,
  resolve: Resolve,
): Promise<ResolvedAddress[]> {
  const addresses = isIP(target.host) === 0 ? await lookUp(target.host, resolve) : [literal(target.host)];
  if (addresses.length === 0) throw unresolved(target.host);
  for (const { address } of addresses) requireAdmitted(policy, target, address);
  return addresses;
}

/** Throws `OutboundError` unless this target may be called at this address. */
export function requireAdmitted(policy: OutboundPolicy, target: Target, address: string): void {
  const kind = judgeAddress(address);
  if (allowsAddress(policy, address, target.port, kind === "metadata")) return;
  const isNamed = allowsHost(policy, target.host, target.port);
  if (target.protocol !== "https:" && !isNamed) throw plainHttp(target);
  if (kind === "public" || (kind === "private" && isNamed)) return;
  throw notPublic(target, isNamed);
}

const literal = (address: string): ResolvedAddress => ({ address, family: isIP(address) });

async function lookUp(host: string, resolve: Resolve): Promise<ResolvedAddress[]> {
  try {
    return await resolve(host);
  } catch (cause) {
    throw unresolved(host, cause);
  }
}

const unresolved = (host: string, cause?: unknown) =>
  new OutboundError("dns_failed", { message: `The name ${host} does not resolve.`, cause });

const plainHttp = (target: Target) =>
  new OutboundError("url_refused", {
    message: `The URL must begin with https://. An operator can allow http by adding ${entryFor(target)} to OUTBOUND_ALLOW.`,
  });

const notPublic = (target: Target, isNamed: boolean) =>
  new OutboundError("address_refused", {
    message: isNamed
      ? `The address of ${target.host} is not public, and one that OUTBOUND_ALLOW must hold itself: the name there is not enough.`
      : `The address of ${target.host} is not public. An operator can allow it by adding ${entryFor(target)} to OUTBOUND_ALLOW.`,
  });

const entryFor = ({ host, port }: Target) => `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
