import { createHmac, timingSafeEqual } from "node:crypto";
import type { SecretLabel, Secrets } from "./derive";

export type MacParts = readonly (string | number | boolean | null)[];

/** HMAC-SHA256 over the parts as a JSON array, so that no two lists of parts collide. */
export function mac(key: Uint8Array, parts: MacParts): Buffer {
  return createHmac("sha256", key).update(JSON.stringify(parts)).digest();
}

/**
 * Whether `presented` is the MAC of these parts under this label's key, of the current secret or of the one before it. In constant time:
 * what is compared never tells how much of it was right, nor under which secret.
 */
export function isMacOf(secrets: Secrets, label: SecretLabel, parts: MacParts, presented: Uint8Array): boolean {
  return isOneOf(macsOf(secrets, label, parts), presented);
}

/** The MACs of these parts under this label's key: of the current secret first, then, during a rotation, of the one before it. */
export function macsOf(secrets: Secrets, label: SecretLabel, parts: MacParts): [Buffer, ...Buffer[]] {
  const current = mac(secrets[label], parts);
  return secrets.previous ? [current, mac(secrets.previous[label], parts)] : [current];
}

/** Whether `presented` is one of these; each is compared in constant time, and all of them are. */
export function isOneOf(macs: readonly Uint8Array[], presented: Uint8Array): boolean {
  return macs.map((made) => isSameMac(made, presented)).includes(true);
}

/** Compares in constant time; unequal lengths are simply unequal. */
export function isSameMac(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
