import { isIP } from "node:net";
import { type AddressBytes, hasPrefix, parseAddress } from "./address";

/** Whom the operator lets this service call beside public https hosts. Plain data: it may be logged, compared and joined. */
export type OutboundPolicy = { hosts: readonly AllowedHost[]; ranges: readonly AllowedRange[] };

/** A name, lower-case and without a trailing dot; without a port all ports are meant. */
export type AllowedHost = { host: string; port: number | undefined };

/** Addresses that share their first `bits`; one alone where that is all of them. A port is possible with one alone. */
export type AllowedRange = { prefix: AddressBytes; bits: number; port: number | undefined };

/**
 * Reads `OUTBOUND_ALLOW`: names (`hooks.internal`), addresses, both also with a port (`hooks.internal:8080`, `[fd12::1]:8443`), and CIDR
 * ranges (RFC 4632), with commas or spaces between. Returns all faults, each with its entry; what is not faulty is in the policy.
 */
export function parseOutboundAllow(text: string): { policy: OutboundPolicy; faults: string[] } {
  const hosts: AllowedHost[] = [];
  const ranges: AllowedRange[] = [];
  const faults: string[] = [];
  for (const entry of text.split(/[\s,]+/).filter(Boolean)) {
    const parsed = parseEntry(entry);
    if (typeof parsed === "string") faults.push(`"${entry}" ${parsed}`);
    else if ("host" in parsed) hosts.push(parsed);
    else ranges.push(parsed);
  }
  return { policy: { hosts, ranges }, faults };
}

/** What either allows. */
export function joinPolicies(one: OutboundPolicy, other: OutboundPolicy): OutboundPolicy {
  return { hosts: [...one.hosts, ...other.hosts], ranges: [...one.ranges, ...other.ranges] };
}

/** Whether the operator named this host, with this port or with none. */
export function allowsHost(policy: OutboundPolicy, host: string, port: number): boolean {
  return policy.hosts.some((allowed) => allowed.host === host && portFits(allowed.port, port));
}

/** Whether the operator named this address, or a range that it is in; `alone`: the address itself. */
export function allowsAddress(policy: OutboundPolicy, address: string, port: number, alone = false): boolean {
  const bytes = parseAddress(address);
  if (!bytes) return false;
  return policy.ranges.some(
    (range) =>
      hasPrefix(bytes, range.prefix, range.bits) &&
      portFits(range.port, port) &&
      (!alone || range.bits === bytes.length * 8),
  );
}

const portFits = (allowed: number | undefined, port: number) => allowed === undefined || allowed === port;

function parseEntry(entry: string): AllowedHost | AllowedRange | string {
  if (entry.includes("://")) return "must be a host, not a URL";
  if (entry.includes("%")) return "must not have a zone";
  if (entry.includes("/")) return parseRange(entry);
  const bare = parseAddress(entry);
  if (bare) return { prefix: bare, bits: bare.length * 8, port: undefined };
  const [, bracketed, name, digits] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const port = digits === undefined ? undefined : Number(digits);
  if (port !== undefined && (port < 1 || port > 65_535)) return "must have a port from 1 to 65535";
  const literal = bracketed ?? (name !== undefined && isIP(name) === 4 ? name : undefined);
  const prefix = literal === undefined ? undefined : parseAddress(literal);
  if (prefix) return { prefix, bits: prefix.length * 8, port };
  return name === undefined ? noEntry : parseHost(name, port);
}

function parseRange(entry: string): AllowedRange | string {
  const [, address = "", digits = ""] = /^([^/]*)\/(\d{1,3})$/.exec(entry) ?? [];
  const prefix = parseAddress(address);
  const bits = Number(digits);
  if (!prefix || digits === "" || bits > prefix.length * 8) return "is not a CIDR range such as 10.1.0.0/16";
  if (bits === 0) return "would allow every address";
  const hasNoRest = prefix.every((byte, index) => (byte & (0xff >> Math.min(Math.max(bits - index * 8, 0), 8))) === 0);
  return hasNoRest ? { prefix, bits, port: undefined } : `does not begin where a range of /${bits} begins`;
}

function parseHost(name: string, port: number | undefined): AllowedHost | string {
  if (name.includes("*")) return "must be one host: there are no wildcards";
  const host = name.toLowerCase().replace(/\.$/, "");
  if (!URL.canParse(`http://${host}/`)) return noEntry;
  const { hostname, href } = new URL(`http://${host}/`);
  if (href !== `http://${hostname}/`) return noEntry;
  if (isIP(hostname) === 4) return `must be written as ${hostname}`;
  return /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(hostname) ? { host: hostname, port } : noEntry;
}

const noEntry = "is neither a host, host:port, an address nor a CIDR range";
