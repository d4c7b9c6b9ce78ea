/** What an authenticator writes: whole numbers, text, bytes, and maps in the order given. */
export type CborValue = number | string | Uint8Array | Map<number | string, CborValue>;

/** The CBOR encoding (RFC 8949) of a value, each length in its shortest form. Whole numbers must be within ±(2^32−1). */
export function writeCbor(value: CborValue): Uint8Array<ArrayBuffer> {
  if (typeof value === "number") return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === "string") return joined(head(3, Buffer.byteLength(value)), Buffer.from(value));
  if (value instanceof Uint8Array) return joined(head(2, value.length), value);
  const members = [...value].flatMap(([name, member]) => [writeCbor(name), writeCbor(member)]);
  return joined(head(5, value.size), ...members);
}

function head(major: number, argument: number): Uint8Array<ArrayBuffer> {
  const type = major << 5;
  if (argument < 24) return Uint8Array.of(type | argument);
  if (argument < 0x100) return Uint8Array.of(type | 24, argument);
  if (argument < 0x10000) return Uint8Array.of(type | 25, argument >>> 8, argument & 255);
  const bytes = Buffer.alloc(5);
  bytes.writeUInt8(type | 26);
  bytes.writeUInt32BE(argument, 1);
  return Uint8Array.from(bytes);
}

function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.concat(parts));
}
