import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import { CompactEncrypt, compactDecrypt, type JWK } from "jose";
import type { SecretKeys, Secrets } from "../secrets/derive";

/** Encrypts the private part of a signing key: a JWE (`dir`, `A256GCM`; RFC 7516) under the key-encryption key, which names the `kid`. */
export async function wrapPrivatePart(keys: Pick<SecretKeys, "kek">, kid: string, plaintext: Uint8Array) {
  return new CompactEncrypt(plaintext).setProtectedHeader({ alg: "dir", enc: "A256GCM", kid }).encrypt(keys.kek);
}

/**
 * The private part of a signing key, as `wrapPrivatePart` was given it, by the current secret or the one before it. Throws where it is
 * neither's, or another key's.
 */
export async function unwrapPrivatePart(secrets: Secrets, kid: string, privateJwe: string): Promise<Uint8Array> {
  for (const keys of secrets.previous ? [secrets, secrets.previous] : [secrets]) {
    const opened = await compactDecrypt(privateJwe, keys.kek, {
      keyManagementAlgorithms: ["dir"],
      contentEncryptionAlgorithms: ["A256GCM"],
    }).catch(() => undefined);
    if (opened?.protectedHeader.kid === kid) return opened.plaintext;
  }
  throw new Error(`the private part of signing key ${kid} does not open with our secret`);
}

/**
 * The private key of a signing key, or undefined where its private part does not open with our secret, is another key's, or does not belong
 * to the public part.
 */
export async function openPrivateKey(
  secrets: Secrets,
  { kid, privateJwe, publicJwk }: { kid: string; privateJwe: string | null; publicJwk: string },
): Promise<KeyObject | undefined> {
  if (privateJwe === null) return undefined;
  try {
    const plaintext = await unwrapPrivatePart(secrets, kid, privateJwe);
    const key = JSON.parse(new TextDecoder().decode(plaintext)) as JsonWebKey;
    const privateKey = createPrivateKey({ key, format: "jwk" });
    return createPublicKey(privateKey).export({ format: "jwk" }).x === (JSON.parse(publicJwk) as JWK).x
      ? privateKey
      : undefined;
  } catch {
    return undefined;
  }
}
