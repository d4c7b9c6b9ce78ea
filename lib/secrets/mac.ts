import { createHmac, timingSafeEqual } from "node:crypto";

/** HMAC-SHA256 over the parts as a JSON array, so that no two lists of parts collide. */
export function mac(key: Uint8Array, parts: readonly (string | number | boolean | null)[]): Buffer {
  return createHmac("sha256", key).update(JSON.stringify(parts)).digest();
}

/** Compares in constant time; unequal lengths are simply unequal. */
export function isSameMac(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
