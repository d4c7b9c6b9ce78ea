import { isIPv4, isIPv6 } from "node:net";

/**
 * What counts as one source: an IPv4 address, or the /64 of an IPv6 address, since the 64 bits after it are whatever one machine picks on
 * its link (RFC 4291 section 2.5.1); `unknown` for anything else. An IPv4 address written as IPv6 is the IPv4 address.
 */
export function networkOf(address: string | undefined): string {
  const plain = plainAddress(address);
  if (isIPv4(plain)) return plain;
  return isIPv6(plain) ? `${prefixOf(groupsOf(plain), 4)}::/64` : "unknown";
}

/**
 * The /48 of an IPv6 address, which is the most that one end site usually has: RFC 3177 recommended it for each, RFC 6177 left the size to
 * the provider. Whoever has all of it can come from 65,536 networks. Undefined for IPv4, where the address is all there is.
 */
export function siteOf(address: string | undefined): string | undefined {
  const plain = plainAddress(address);
  return isIPv6(plain) ? `${prefixOf(groupsOf(plain), 3)}::/48` : undefined;
}

/** Without the zone, and IPv4 where it is that. */
function plainAddress(address: string | undefined): string {
  const plain = (address ?? "").trim().replace(/%.*$/, "");
  if (!isIPv6(plain)) return plain;
  const groups = groupsOf(plain);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (!isMapped) return plain;
  const bytes = groups.slice(6).flatMap((group) => [group >> 8, group & 0xff]);
  return bytes.join(".");
}

const prefixOf = (groups: number[], count: number) =>
  groups
    .slice(0, count)
    .map((group) => group.toString(16))
    .join(":");

/** The eight groups of an IPv6 address (RFC 4291 section 2.2). The URL parser writes a dotted end as two groups. */
function groupsOf(address: string): number[] {
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const numbers = (part: string) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16)));
  const [first, last] = [numbers(head), numbers(tail ?? "")];
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last];
}
