import { describe, expect, it } from "vitest";
import { publicJwkOf } from "@/lib/passkeys/public-jwk";
import { type CborValue, writeCbor } from "@/test/support/write-cbor";

const x = Buffer.alloc(32, 1);
const y = Buffer.alloc(32, 2);
const n = Buffer.alloc(256, 3);
const e = Buffer.from([1, 0, 1]);

const ec = [
  [1, 2],
  [3, -7],
  [-1, 1],
  [-2, x],
  [-3, y],
] as const;
const okp = [
  [1, 1],
  [3, -8],
  [-1, 6],
  [-2, x],
] as const;
const rsa = [
  [1, 3],
  [3, -257],
  [-1, n],
  [-2, e],
] as const;

type Members = readonly (readonly [number, CborValue])[];
const cose = (members: Members, change: Record<number, CborValue> = {}) =>
  writeCbor(new Map(members.map(([label, value]) => [label, change[label] ?? value])));
const text = (bytes: Buffer) => bytes.toString("base64url");

describe("a COSE key as a JWK", () => {
  it("is one of the three kinds that passkeys have here", () => {
    const ecJwk = { kty: "EC", crv: "P-256", x: text(x), y: text(y) };
    expect(publicJwkOf(cose(ec))).toEqual({ jwk: ecJwk, alg: -7 });
    expect(publicJwkOf(cose(okp))).toEqual({ jwk: { kty: "OKP", crv: "Ed25519", x: text(x) }, alg: -8 });
    expect(publicJwkOf(cose(rsa))).toEqual({ jwk: { kty: "RSA", n: text(n), e: "AQAB" }, alg: -257 });
  });

  it("writes RSA's numbers without zeros before them (RFC 7518 section 6.3.1)", () => {
    const padded = { [-1]: Buffer.concat([Buffer.alloc(1), n]), [-2]: Buffer.from([0, 1, 0, 1]) };
    expect(publicJwkOf(cose(rsa, padded)).jwk).toEqual({ kty: "RSA", n: text(n), e: "AQAB" });
  });

  it("refuses every other kind, curve, algorithm and size", () => {
    const refused: [Members, Record<number, CborValue>][] = [
      [ec, { 3: -35 }],
      [ec, { 3: -257 }],
      [ec, { [-1]: 2 }],
      [ec, { [-1]: 8 }],
      [ec, { 1: 1 }],
      [ec, { [-2]: x.subarray(1) }],
      [ec, { [-3]: Buffer.concat([y, y]) }],
      [ec, { [-2]: "text" }],
      [okp, { 3: -7 }],
      [okp, { [-1]: 4 }],
      [okp, { [-2]: 7 }],
      [rsa, { 3: -258 }],
      [rsa, { 3: -37 }],
      [rsa, { [-1]: n.subarray(1) }],
      [rsa, { [-1]: Buffer.alloc(1025, 1) }],
      [rsa, { [-2]: Buffer.alloc(9, 1) }],
      [rsa, { [-2]: Buffer.alloc(3) }],
    ];
    for (const [members, change] of refused) expect(() => publicJwkOf(cose(members, change))).toThrow(RangeError);
    expect(() => publicJwkOf(writeCbor(7))).toThrow(RangeError);
    expect(() => publicJwkOf(new Uint8Array())).toThrow();
  });
});
