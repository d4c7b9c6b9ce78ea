import { type AddressBytes, hasPrefix, parseAddress } from "./address";

/**
 * What an address is to a service on the public Internet.
 * - `public`: globally reachable unicast, and the only kind that needs nobody's word.
 * - `private`: somebody's own network (RFC 1918, RFC 4193, RFC 6598) or this machine. A host that the operator names may have it.
 * - `metadata`: where clouds hand out credentials. Only the operator's naming that very address allows it.
 * - `special`: everything else. Only the operator's naming the address or a range of it allows it.
 */
export type AddressKind = "public" | "private" | "metadata" | "special";

/**
 * Judges one address, without its zone; what is no address, or not known to be global unicast, is `special`. After IANA's registries of
 * special-purpose addresses (RFC 6890, RFC 8190): all their entries are refused, the few that are globally reachable too, for they are
 * protocols' own. Forms that carry an IPv4 address (RFC 4291 section 2.5.5, RFC 3056, RFC 4380, RFC 5214, RFC 6052) are not looked into:
 * they are refused whatever they carry.
 */
export function judgeAddress(address: string): AddressKind {
  const bytes = parseAddress(address);
  if (!bytes) return "special";
  if (isIn(bytes, metadata)) return "metadata";
  if (isIn(bytes, ownNetworks)) return "private";
  if (isIn(bytes, specialPurpose)) return "special";
  if (bytes.length === 4) return "public";
  return hasPrefix(bytes, globalUnicast, 3) && !isIsatap(bytes) ? "public" : "special";
}

/** RFC 5214 section 6.1: an interface identifier that ends in an IPv4 address, under any prefix. */
function isIsatap(bytes: AddressBytes): boolean {
  return ((bytes[8] ?? 0) & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
}

type Block = { prefix: AddressBytes; bits: number };

function block(text: string): Block {
  const [address = "", bits] = text.split("/");
  const prefix = parseAddress(address);
  if (!prefix) throw new Error(`${text} is no block of addresses`);
  return { prefix, bits: Number(bits) };
}

const isIn = (address: AddressBytes, blocks: readonly Block[]) =>
  blocks.some(({ prefix, bits }) => hasPrefix(address, prefix, bits));

const globalUnicast = block("2000::/3").prefix;

const metadata = [
  "169.254.169.254/32", // AWS, Azure, Google Cloud, DigitalOcean, Hetzner, OpenStack
  "169.254.170.2/32", // AWS ECS task credentials
  "169.254.170.23/32", // AWS EKS pod identity
  "169.254.42.42/32", // Scaleway
  "169.254.0.23/32", // Tencent Cloud
  "100.100.100.200/32", // Alibaba Cloud
  "192.0.0.192/32", // Oracle Cloud
  "168.63.129.16/32", // Azure's host, in public space
  "fd00:ec2::/32", // AWS
  "fd20:ce::254/128", // Google Cloud
  "fd00:42::42/128", // Scaleway
  "fd00:a9fe:a9fe::1/128", // Akamai (Linode)
  "fe80::a9fe:a9fe/128", // OpenStack
].map(block);

const ownNetworks = [
  "10.0.0.0/8", // RFC 1918
  "172.16.0.0/12",
  "192.168.0.0/16",
  "100.64.0.0/10", // shared, CGNAT (RFC 6598)
  "127.0.0.0/8", // loopback (RFC 1122)
  "::1/128",
  "fc00::/7", // unique local (RFC 4193)
].map(block);

const specialPurpose = [
  "0.0.0.0/8", // this network (RFC 791)
  "169.254.0.0/16", // link-local (RFC 3927)
  "192.0.0.0/24", // IETF protocol assignments (RFC 6890)
  "192.0.2.0/24", // documentation (RFC 5737)
  "192.31.196.0/24", // AS112 (RFC 7535)
  "192.52.193.0/24", // AMT (RFC 7450)
  "192.88.99.0/24", // 6to4 relays (RFC 7526)
  "192.175.48.0/24", // AS112 (RFC 7534)
  "198.18.0.0/15", // benchmarking (RFC 2544)
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast (RFC 5771)
  "240.0.0.0/4", // reserved, and broadcast (RFC 1112, RFC 8190)
  // Below 2000::/3 alone: all that lies outside is refused anyway.
  "2001::/23", // IETF protocol assignments: Teredo, benchmarking, AMT, AS112, ORCHID, DRIP (RFC 2928)
  "2001:db8::/32", // documentation (RFC 3849)
  "2002::/16", // 6to4 (RFC 3056)
  "2620:4f:8000::/48", // AS112 (RFC 7534)
  "3fff::/20", // documentation (RFC 9637)
].map(block);
