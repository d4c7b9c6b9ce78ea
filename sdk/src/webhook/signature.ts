import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { WebhookError } from "./error";

const PREFIX = "whsec_";
/** Standard Webhooks 1.0: 24 to 64 bytes of key. */
const MIN_KEY_BYTES = 24;
const MAX_KEY_BYTES = 64;

/** What is signed, beside the body. */
export type SignedParts = { id: string; timestamp: string; body: Uint8Array };

/** One signature of Standard Webhooks 1.0, `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`. */
export function signatureOf(key: Uint8Array, { id, timestamp, body }: SignedParts): string {
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64")}`;
}

/**
 * The key bytes of each secret.
 * @throws WebhookError `bad_secret` for anything but `whsec_` and the base64 of 24…64 bytes
 */
export function keysOf(secret: string | readonly string[]): Uint8Array[] {
  const secrets = [secret].flat();
  if (secrets.length === 0) throw badSecret("The list of secrets is empty.");
  return secrets.map(keyOf);
}

/**
 * Whether one of the signatures is that of one of the keys. Every pair is compared whole, as SHA-256 digests of the texts: these are of
 * one length whatever came, so that neither a wrong length nor a first wrong character ends a comparison early, and how long it takes
 * depends on what was sent alone. Texts and not decoded bytes, since base64 spells some bytes in several ways. Other versions than `v1` are
 * passed over.
 */
export function isSignedBy(keys: readonly Uint8Array[], signatures: readonly string[], parts: SignedParts): boolean {
  const given = signatures.filter((signature) => signature.startsWith("v1,")).map(digest);
  let matches = 0;
  for (const key of keys) {
    const expected = digest(signatureOf(key, parts));
    for (const candidate of given) matches += timingSafeEqual(candidate, expected) ? 1 : 0;
  }
  return matches > 0;
}

function digest(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}

function keyOf(secret: string): Uint8Array {
  if (typeof secret !== "string" || !secret.startsWith(PREFIX))
    throw badSecret("A webhook secret begins with whsec_; this is something else, or nothing.");
  const text = secret.slice(PREFIX.length);
  const key = Buffer.from(text, "base64");
  if (key.toString("base64") !== text)
    throw badSecret(
      "What follows whsec_ is not base64 with its padding; has it been cut, or does a line break follow?",
    );
  if (key.length < MIN_KEY_BYTES || key.length > MAX_KEY_BYTES)
    throw badSecret(`A webhook secret holds ${MIN_KEY_BYTES} to ${MAX_KEY_BYTES} bytes; this one has ${key.length}.`);
  return key;
}

const badSecret = (message: string) => new WebhookError("bad_secret", message);
