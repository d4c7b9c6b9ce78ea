import { type CryptoKey, importJWK, type JWK } from "jose";
import { isSameMac, mac } from "../secrets/mac";

/** Ed25519 of RFC 9864: the algorithm named fully, so that nothing is left to negotiate. */
export const signingAlg = "Ed25519";

/** A new key is published this long before it signs, so that every verifier's cached key set holds it. */
export const publishAheadSeconds = 600;

export type SigningKeyRow = {
  kid: string;
  publicJwk: string;
  privateJwe: string | null;
  status: string;
  publishFrom: Date;
  activeFrom: Date;
  retiredAt: Date | null;
  revokedAt: Date | null;
  mac: Uint8Array;
};

/** A key whose row was authenticated. */
export type SigningKey = Omit<SigningKeyRow, "mac" | "publicJwk"> & { publicJwk: JWK; publicKey: CryptoKey };

/** Authenticates the public part, the state and the instants of a key row (I17): none can be written without the secret. */
export function macOfSigningKey(rowKey: Uint8Array, row: Omit<SigningKeyRow, "mac">): Buffer {
  const instant = (at: Date | null) => at?.toISOString() ?? null;
  return mac(rowKey, [
    "signing_key",
    row.kid,
    row.publicJwk,
    row.status,
    instant(row.publishFrom),
    instant(row.activeFrom),
    instant(row.retiredAt),
    instant(row.revokedAt),
  ]);
}

/** The key of a row, or undefined where the row was not written by a holder of the secret. */
export async function authenticateSigningKey(rowKey: Uint8Array, row: SigningKeyRow): Promise<SigningKey | undefined> {
  if (!isSameMac(row.mac, macOfSigningKey(rowKey, row))) return undefined;
  const publicJwk = JSON.parse(row.publicJwk) as JWK;
  const publicKey = (await importJWK(publicJwk, signingAlg)) as CryptoKey;
  return { ...row, publicJwk, publicKey };
}
