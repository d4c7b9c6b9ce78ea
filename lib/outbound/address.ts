import { isIPv4, isIPv6 } from "node:net";

/** An IP address as its 4 or 16 bytes: the one form in which two spellings of it are equal. */
export type AddressBytes = readonly number[];

/** The bytes of an address in any spelling of RFC 4291 section 2.2 or dotted decimal; undefined for all else, and where it has a zone. */
export function parseAddress(text: string): AddressBytes | undefined {
  if (isIPv4(text)) return text.split(".").map(Number);
  if (!isIPv6(text) || text.includes("%")) return undefined;
  const [head = "", tail] = text.split("::");
  const front = bytesOf(head);
  const back = tail === undefined ? [] : bytesOf(tail);
  return [...front, ...new Array<number>(16 - front.length - back.length).fill(0), ...back];
}

/** Whether the first `bits` of both are the same; never for addresses of different families, so that no mapped form slips in. */
export function hasPrefix(address: AddressBytes, prefix: AddressBytes, bits: number): boolean {
  if (address.length !== prefix.length) return false;
  return prefix.every((byte, index) => {
    const left = Math.min(Math.max(bits - index * 8, 0), 8);
    return (((address[index] ?? 0) ^ byte) & (0xff00 >> left) & 0xff) === 0;
  });
}

function bytesOf(groups: string): number[] {
  if (groups === "") return [];
  return groups.split(":").flatMap((group) => {
    if (group.includes(".")) return group.split(".").map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
