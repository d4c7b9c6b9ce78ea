import { type CryptoKey, importJWK } from "jose";
import { z } from "zod";
import { type KeyLookup, RECEIPT_ALG } from "./receipt";

const jwksSchema = z.looseObject({
  keys: z.array(
    z.looseObject({
      kty: z.string(),
      kid: z.string().optional(),
      crv: z.string().optional(),
      x: z.string().optional(),
    }),
  ),
});

const MAX_AGE_MS = 300_000;
const COOLDOWN_MS = 10_000;

/**
 * A key lookup over a published key set (RFC 7517): fetched when first needed, kept for 300 s, and fetched anew for an
 * unknown `kid` at most every 10 s, so that a rotated key is found and a made-up `kid` cannot flood the service.
 * The lookup throws when the set cannot be fetched and no fetched one is still fresh.
 */
export function remoteKeys({ load, now = Date.now }: RemoteKeysOptions): KeyLookup {
  let held: { keys: Map<string, CryptoKey>; fetchedAt: number } | undefined;
  let fetching: Promise<Map<string, CryptoKey>> | undefined;

  const refresh = async (): Promise<Map<string, CryptoKey>> => {
    fetching ??= load()
      .then(importKeys)
      .finally(() => {
        fetching = undefined;
      });
    const keys = await fetching;
    held = { keys, fetchedAt: now() };
    return keys;
  };

  return async (kid) => {
    const age = held === undefined ? Number.POSITIVE_INFINITY : now() - held.fetchedAt;
    if (held === undefined || age > MAX_AGE_MS) return (await refresh()).get(kid);
    const key = held.keys.get(kid);
    return key === undefined && age > COOLDOWN_MS ? (await refresh()).get(kid) : key;
  };
}

export type RemoteKeysOptions = {
  /** Fetches the key set as parsed JSON, e.g. `/.well-known/jwks.json`. */
  load: () => Promise<unknown>;
  now?: () => number;
};

/** A key lookup over a key set at hand, e.g. one kept with old receipts. Keys other than Ed25519 are passed over. */
export async function localKeys(jwks: unknown): Promise<KeyLookup> {
  const keys = await importKeys(jwks);
  return (kid) => keys.get(kid);
}

async function importKeys(jwks: unknown): Promise<Map<string, CryptoKey>> {
  const keys = new Map<string, CryptoKey>();
  for (const { kty, crv, x, kid } of jwksSchema.parse(jwks).keys) {
    if (kty !== "OKP" || crv !== RECEIPT_ALG || x === undefined || kid === undefined) continue;
    const key = await importJWK({ kty, crv, x }, RECEIPT_ALG);
    if (!(key instanceof Uint8Array)) keys.set(kid, key);
  }
  return keys;
}
