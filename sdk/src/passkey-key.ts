import { createPublicKey, type KeyObject } from "node:crypto";
import { type PasskeyPublicKey, publicKeySchema } from "./passkey-claim";

/** Why a key is none that a passkey's signature can be checked with. */
export type KeyFault =
  /** Not a JWK of the three kinds, or of other sizes than theirs. */
  | "malformed"
  /** Of another kind than the algorithm named. */
  | "wrong_alg"
  /** P-256: not a point of the curve. Ed25519: not the one encoding of a point. */
  | "no_point"
  /** Ed25519: a point of order 1, 2, 4 or 8, under which there are signatures that nobody made. */
  | "small_order"
  /** RSA: fewer than 2048 bits, or an exponent that is even or below 3. */
  | "weak_rsa";

/**
 * What is wrong with a public key (JWK) for a COSE algorithm, or `undefined`: what is refused here must not be registered, since no
 * verifier of a receipt takes it. Never throws.
 */
export function findKeyFault(jwk: unknown, alg: number): KeyFault | undefined {
  const { data } = publicKeySchema.safeParse(jwk);
  if (data === undefined) return "malformed";
  const imported = importKey(data, alg);
  return typeof imported === "string" ? imported : undefined;
}

/** The key to verify with, or why there is none. */
export function importKey(jwk: PasskeyPublicKey, alg: number): KeyObject | KeyFault {
  if (KEY_TYPES.get(alg) !== jwk.kty) return "wrong_alg";
  const fault = jwk.kty === "OKP" ? findEd25519Fault(jwk.x) : undefined;
  if (fault !== undefined) return fault;
  let key: KeyObject;
  try {
    key = createPublicKey({ key: jwk, format: "jwk" });
  } catch {
    return jwk.kty === "RSA" ? "weak_rsa" : "no_point";
  }
  return jwk.kty === "RSA" && isWeakRsa(key) ? "weak_rsa" : key;
}

/** COSE algorithms (RFC 9053 section 2, RFC 8812 section 2) and the kind of their keys. */
const KEY_TYPES: ReadonlyMap<number, PasskeyPublicKey["kty"]> = new Map([
  [-7, "EC"],
  [-8, "OKP"],
  [-257, "RSA"],
]);

/** With exponent 1 a message is its own signature; an even one has no inverse. */
function isWeakRsa(key: KeyObject): boolean {
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  return modulusLength < 2048 || publicExponent < 3n || publicExponent % 2n === 0n;
}

/** 2^255 - 19: coordinates are numbers below it (RFC 8032 section 5.1). */
const P = 2n ** 255n - 19n;

/**
 * The y of the eight points whose order divides the cofactor 8 (RFC 8032 section 5.1): order 1, order 2, order 4 (two points), order 8 (four
 * points, two for each y). Section 5.1.7 does not ask to refuse them, and node:crypto takes them; under one of order 1 the signature
 * R = (0, 1), S = 0 verifies for every message, under one of order n for about every n-th.
 */
const SMALL_ORDER_Y: ReadonlySet<bigint> = new Set([
  1n,
  P - 1n,
  0n,
  0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n,
]);

/**
 * An encoding is y, least byte first, and the sign of x in the last bit (section 5.1.2). The sign is not looked at, so that the encodings
 * which section 5.1.3 refuses but decoders take (x = 0 with a sign) are found too; y of P or more is refused by its step 1.
 */
function findEd25519Fault(x: string): KeyFault | undefined {
  const bytes = Buffer.from(x, "base64url").reverse();
  const y = BigInt(`0x${bytes.toString("hex")}`) & (2n ** 255n - 1n);
  if (SMALL_ORDER_Y.has(y % P)) return "small_order";
  return y >= P ? "no_point" : undefined;
}
