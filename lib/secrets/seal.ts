import { CompactEncrypt, compactDecrypt } from "jose";
import type { SecretLabel, Secrets } from "./derive";

/**
 * Encrypts a JSON value as a compact JWE (`dir`, A256GCM; RFC 7516) under this label's key of the current secret. `purpose` is its
 * `typ` and authenticated with it: what was sealed for one purpose does not open for another.
 */
export async function seal(secrets: Secrets, label: SecretLabel, purpose: string, value: object): Promise<string> {
  return new CompactEncrypt(new TextEncoder().encode(JSON.stringify(value)))
    .setProtectedHeader({ alg: "dir", enc: "A256GCM", typ: purpose })
    .encrypt(secrets[label]);
}

/**
 * What `seal` sealed for this purpose, under the current secret or the one before it; undefined for everything else. The shape is the
 * caller's to check.
 */
export async function open(secrets: Secrets, label: SecretLabel, purpose: string, sealed: string): Promise<unknown> {
  for (const keys of secrets.previous ? [secrets, secrets.previous] : [secrets]) {
    const opened = await compactDecrypt(sealed, keys[label], {
      keyManagementAlgorithms: ["dir"],
      contentEncryptionAlgorithms: ["A256GCM"],
    }).catch(() => undefined);
    if (opened?.protectedHeader.typ === purpose) return JSON.parse(new TextDecoder().decode(opened.plaintext));
  }
  return undefined;
}
