import { createHash, timingSafeEqual } from "node:crypto";
import type { PasskeyOwner } from "./passkey";

/**
 * What an authenticator keeps to say whose a passkey is (WebAuthn level 3, section 5.4.3): 32 bytes, the same for all passkeys of an
 * identity. It tells nothing about the person: the user's id in it is 130 random bits. No secret is in it, because it can never be
 * changed once it is in an authenticator, and secrets are.
 */
export function userHandleOf({ userId, iss, sub }: PasskeyOwner): Buffer<ArrayBuffer> {
  const text = JSON.stringify(["countersign/user-handle/1", userId, iss, sub]);
  return Buffer.from(createHash("sha256").update(text).digest());
}

/** Whether a handle (base64url) that came with an answer is this owner's. */
export function isUserHandleOf(owner: PasskeyOwner, handle: string): boolean {
  const [given, own] = [Buffer.from(handle, "base64url"), userHandleOf(owner)];
  return given.length === own.length && timingSafeEqual(given, own);
}
