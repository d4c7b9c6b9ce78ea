import { calculateJwkThumbprint, exportJWK, generateKeyPair } from "jose";
import type { SecretKeys } from "../secrets/derive";
import { wrapPrivatePart } from "./private-part";
import { macOfSigningKey, type SigningKeyRow, signingAlg } from "./signing-key";

/**
 * Makes an Ed25519 key row: `kid` is the RFC 7638 thumbprint, the private part is encrypted under the key-encryption key. Nothing is
 * stored.
 */
export async function createSigningKey(
  keys: Pick<SecretKeys, "kek" | "row">,
  instants: { publishFrom: Date; activeFrom: Date },
): Promise<SigningKeyRow> {
  const pair = await generateKeyPair(signingAlg, { extractable: true });
  const { kty, crv, x } = await exportJWK(pair.publicKey);
  const kid = await calculateJwkThumbprint({ kty, crv, x } as Parameters<typeof calculateJwkThumbprint>[0]);
  const publicJwk = JSON.stringify({ kty, crv, x, kid, alg: signingAlg, use: "sig" });
  const plaintext = new TextEncoder().encode(JSON.stringify(await exportJWK(pair.privateKey)));
  const privateJwe = await wrapPrivatePart(keys, kid, plaintext);
  const row = { kid, publicJwk, privateJwe, status: "active", ...instants, retiredAt: null, revokedAt: null };
  return { ...row, mac: macOfSigningKey(keys, row) };
}
