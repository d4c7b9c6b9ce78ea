import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { randomCharacters } from "../ids/new-id";

/** A new API key `csk_<keyId 12>_<secret 43>`: 60 bits name it, 256 random bits prove it. */
export function newApiKey(): { keyId: string; secret: string; apiKey: string } {
  const keyId = randomCharacters(12);
  const secret = randomBytes(32).toString("base64url");
  return { keyId, secret, apiKey: `csk_${keyId}_${secret}` };
}

/** The parts of `Authorization: Bearer csk_…`, or undefined. */
export function parseBearerKey(authorization: string | null): { keyId: string; secret: string } | undefined {
  const [, keyId, secret] = /^Bearer csk_([0-9a-hjkmnp-tv-z]{12})_([A-Za-z0-9_-]{43})$/.exec(authorization ?? "") ?? [];
  return keyId && secret ? { keyId, secret } : undefined;
}

/** SHA-256 is enough: the secret is random, so there is nothing to guess (section 6). */
export function hashOfSecret(secret: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash("sha256").update(secret).digest());
}

/** Compares in constant time; without a stored hash it does the same work and is false. */
export function isSecret(secret: string, stored: Uint8Array | undefined): boolean {
  const isSame = timingSafeEqual(hashOfSecret(secret), stored?.length === 32 ? stored : new Uint8Array(32));
  return isSame && stored !== undefined;
}
