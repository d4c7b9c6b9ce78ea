import type { IncomingMessage } from "node:http";
import { type BlockList, isIP } from "node:net";
import type { Logger } from "../log";

/**
 * Leaves exactly one `X-Forwarded-For` on a request: the address of the client, which is the socket's unless that is a trusted proxy,
 * then the nearest address in the header that is not one. All other `X-Forwarded-*` and `Forwarded` headers are dropped: origins
 * come from the configuration alone (section 11). `onIgnored` is told the socket's address where it is not trusted and sent the header.
 */
export function trustForwarded(
  request: IncomingMessage,
  trustedProxies: BlockList,
  onIgnored?: (socketAddress: string) => void,
): void {
  const forwarded = String(request.headers["x-forwarded-for"] ?? "");
  for (const name of Object.keys(request.headers))
    if (name === "forwarded" || name.startsWith("x-forwarded-")) delete request.headers[name];
  const socketAddress = plainAddress(request.socket.remoteAddress ?? "");
  if (forwarded !== "" && !isTrusted(socketAddress, trustedProxies)) onIgnored?.(socketAddress);
  const address = clientAddress(socketAddress, forwarded, trustedProxies);
  request.headers["x-forwarded-for"] = address;
  // Web requests are made from the raw list, pages from the parsed one: both say the same.
  request.rawHeaders = [...withoutForwarded(request.rawHeaders), "X-Forwarded-For", address];
}

/**
 * Tells the operator, once in a process, that somebody's `X-Forwarded-For` is not believed: where that is their own proxy, all visitors
 * have its address, and what one of them gets wrong is held against everybody. To be handed to `trustForwarded`.
 */
export function warnOfIgnored(log: Pick<Logger, "warn">): (socketAddress: string) => void {
  let isTold = false;
  return (socketAddress) => {
    if (isTold) return;
    isTold = true;
    const text = "X-Forwarded-For is not believed from here: if this is your proxy, name it in TRUSTED_PROXIES";
    log.warn({ socketAddress }, text);
  };
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
