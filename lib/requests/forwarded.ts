import type { IncomingMessage } from "node:http";
import { type BlockList, isIP } from "node:net";

/**
 * Leaves exactly one `X-Forwarded-For` on a request: the address of the client, which is the socket's unless that is a trusted proxy,
 * then the nearest address in the header that is not one. All other `X-Forwarded-*` and `Forwarded` headers are dropped: origins
 * come from the configuration alone (section 11).
 */
export function trustForwarded(request: IncomingMessage, trustedProxies: BlockList): void {
  const forwarded = String(request.headers["x-forwarded-for"] ?? "");
  for (const name of Object.keys(request.headers))
    if (name === "forwarded" || name.startsWith("x-forwarded-")) delete request.headers[name];
  const address = clientAddress(request.socket.remoteAddress ?? "", forwarded, trustedProxies);
  request.headers["x-forwarded-for"] = address;
  // Web requests are made from the raw list, pages from the parsed one: both say the same.
  request.rawHeaders = [...withoutForwarded(request.rawHeaders), "X-Forwarded-For", address];
}

/** The address that a request came from, seen through proxies that are trusted. */
export function clientAddress(socketAddress: string, forwardedFor: string, trustedProxies: BlockList): string {
  const hops = [...forwardedFor.split(",").map((hop) => hop.trim()), socketAddress].map(plainAddress);
  for (let i = hops.length - 1; i > 0; i -= 1) {
    const hop = hops[i] ?? "";
    const before = hops[i - 1] ?? "";
    if (!isTrusted(hop, trustedProxies) || isIP(before) === 0) return hop;
  }
  return hops[0] ?? socketAddress;
}

/** An IPv4 address written as IPv6 is the IPv4 address. */
const plainAddress = (address: string) => address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "");

function isTrusted(address: string, trustedProxies: BlockList): boolean {
  const family = isIP(address);
  return family !== 0 && trustedProxies.check(address, family === 6 ? "ipv6" : "ipv4");
}

function withoutForwarded(raw: string[]): string[] {
  return raw.filter((_, i) => !/^(forwarded|x-forwarded-.*)$/i.test(raw[i - (i % 2)] ?? ""));
}
