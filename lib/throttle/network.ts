import { isIPv4, isIPv6 } from "node:net";

/**
 * What counts as one source: an IPv4 address, or the /64 of an IPv6 address, which is the least that one customer is given (RFC 6177
 * section 2); `unknown` for anything else. An IPv4 address written as IPv6 is the IPv4 address.
 */
export function networkOf(address: string | undefined): string {
  const plain = (address ?? "").trim().replace(/%.*$/, "");
  if (isIPv4(plain)) return plain;
  if (!isIPv6(plain)) return "unknown";
  const groups = groupsOf(plain);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped)
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join(".");
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":")}::/64`;
}

/** The eight groups of an IPv6 address (RFC 4291 section 2.2). The URL parser writes a dotted end as two groups. */
function groupsOf(address: string): number[] {
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const numbers = (part: string) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16)));
  const [first, last] = [numbers(head), numbers(tail ?? "")];
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last];
}
