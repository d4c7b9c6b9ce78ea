import { type CryptoKey, importJWK, type JWK } from "jose";
import type { SecretKeys, Secrets } from "../secrets/derive";
import { isMacOf, type MacParts, mac } from "../secrets/mac";

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
export function macOfSigningKey(
  keys: Pick<SecretKeys, "row">,
  row: Omit<SigningKeyRow, "mac" | "privateJwe">,
): Uint8Array<ArrayBuffer> {
  return new Uint8Array(mac(keys.row, partsOf(row)));
}

export function isAuthenticSigningKey(secrets: Secrets, row: Omit<SigningKeyRow, "privateJwe">): boolean {
  return isMacOf(secrets, "row", partsOf(row), row.mac);
}

/** The key of a row, or undefined where the row was not written by a holder of the secret. */
export async function authenticateSigningKey(secrets: Secrets, row: SigningKeyRow): Promise<SigningKey | undefined> {
  if (!isAuthenticSigningKey(secrets, row)) return undefined;
  const publicJwk = JSON.parse(row.publicJwk) as JWK;
  const publicKey = (await importJWK(publicJwk, signingAlg)) as CryptoKey;
  return { ...row, publicJwk, publicKey };
}

function partsOf(row: Omit<SigningKeyRow, "mac" | "privateJwe">): MacParts {
  const instant = (at: Date | null) => at?.toISOString() ?? null;
  return [
    "signing_key",
    row.kid,
    row.publicJwk,
    row.status,
    instant(row.publishFrom),
    instant(row.activeFrom),
    instant(row.retiredAt),
    instant(row.revokedAt),
  ];
}
