import { createHmac, randomBytes } from "node:crypto";

/**
 * The value of `webhook-signature` (Standard Webhooks 1.0, "signature scheme"): HMAC-SHA256 over `id.timestamp.body`, one for each secret,
 * separated by spaces. `timestamp` is in seconds.
 */
export function signatureHeader(secrets: string[], message: { id: string; timestamp: number; body: string }): string {
  const signed = `${message.id}.${message.timestamp}.${message.body}`;
  return secrets.map((secret) => `v1,${createHmac("sha256", keyOf(secret)).update(signed).digest("base64")}`).join(" ");
}

/** `whsec_` and 32 random bytes in base64. */
export function newWebhookSecret(): string {
  return `${prefix}${randomBytes(32).toString("base64")}`;
}

const prefix = "whsec_";
const keyOf = (secret: string) => Buffer.from(secret.slice(prefix.length), "base64");
