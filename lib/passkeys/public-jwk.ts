import { COSEALG, cose, decodeCredentialPublicKey } from "@simplewebauthn/server/helpers";

/** A public key of the three kinds that passkeys have here (RFC 7518 section 6, RFC 8037 section 2). */
export type PasskeyJwk =
  | { kty: "EC"; crv: "P-256"; x: string; y: string }
  | { kty: "OKP"; crv: "Ed25519"; x: string }
  | { kty: "RSA"; n: string; e: string };

/** COSE algorithms that are asked for, in this order: EdDSA with Ed25519, ES256, RS256 (RFC 9053 section 2, RFC 8812 section 2). */
export const passkeyAlgorithms = [COSEALG.EdDSA, COSEALG.ES256, COSEALG.RS256];
export type PasskeyAlgorithm = -8 | -7 | -257;

/**
 * A COSE key as a JWK and its algorithm. Throws `RangeError` for any key but ES256 with P-256, EdDSA with Ed25519, and RS256 with 2048 to
 * 8192 bits and an exponent of at most eight bytes; other errors for what is no COSE key.
 */
export function publicJwkOf(bytes: Uint8Array): { jwk: PasskeyJwk; alg: PasskeyAlgorithm } {
  const members = decodeCredentialPublicKey(new Uint8Array(bytes)) as unknown;
  if (!(members instanceof Map)) throw unsupported();
  const [type, algorithm] = [members.get(cose.COSEKEYS.kty), members.get(cose.COSEKEYS.alg)];
  const [curve, x, y] = [members.get(cose.COSEKEYS.crv), members.get(cose.COSEKEYS.x), members.get(cose.COSEKEYS.y)];
  if (type === cose.COSEKTY.EC2 && algorithm === COSEALG.ES256 && curve === cose.COSECRV.P256)
    return { jwk: { kty: "EC", crv: "P-256", x: coordinate(x), y: coordinate(y) }, alg: -7 };
  if (type === cose.COSEKTY.OKP && algorithm === COSEALG.EdDSA && curve === cose.COSECRV.ED25519)
    return { jwk: { kty: "OKP", crv: "Ed25519", x: coordinate(x) }, alg: -8 };
  if (type === cose.COSEKTY.RSA && algorithm === COSEALG.RS256) {
    const [n, e] = [members.get(cose.COSEKEYS.n), members.get(cose.COSEKEYS.e)];
    return { jwk: { kty: "RSA", n: whole(n, 256, 1024), e: whole(e, 1, 8) }, alg: -257 };
  }
  throw unsupported();
}

function coordinate(value: unknown): string {
  if (!(value instanceof Uint8Array) || value.length !== 32) throw unsupported();
  return Buffer.from(value).toString("base64url");
}

/** A whole number of `min` to `max` bytes, without the zeros before it that RFC 7518 section 6.3.1 forbids. */
function whole(value: unknown, min: number, max: number): string {
  if (!(value instanceof Uint8Array)) throw unsupported();
  const first = value.findIndex((byte) => byte !== 0);
  const length = first < 0 ? 0 : value.length - first;
  if (length < min || length > max) throw unsupported();
  return Buffer.from(value.subarray(first)).toString("base64url");
}

const unsupported = () => new RangeError("not a public key that is supported");
