import { createPrivateKey, type JsonWebKey, type KeyObject } from "node:crypto";
import { type CryptoKey, compactDecrypt, type JWK } from "jose";
import type { Database } from "../database/prisma";
import type { Logger } from "../log";
import type { Secrets } from "../secrets/derive";
import { authenticateSigningKey, type SigningKey } from "./signing-key";

/**
 * The signing keys of this deployment, read from the database and authenticated. A row that fails is not loaded, not
 * published, and makes `isHealthy()` false. Re-read every 30 s by the worker, and at once for an unknown `kid`
 * (at most once a second).
 */
export function createKeyRing(options: { prisma: Database; secrets: Secrets; log: Logger }): KeyRing {
  let keys = new Map<string, SigningKey>();
  let rejected = 0;
  let readAt = 0;
  const privateKeys = new Map<string, KeyObject>();

  async function refresh(): Promise<void> {
    readAt = Date.now();
    const rows = await options.prisma.signingKey.findMany();
    const authentic = await Promise.all(rows.map((row) => authenticateSigningKey(options.secrets.row, row)));
    const missing = rows.filter((_, i) => authentic[i] === undefined).map((row) => row.kid);
    if (missing.length > rejected)
      options.log.error(
        { kids: missing },
        "signing keys in the database were not written with our secret; they are ignored",
      );
    rejected = missing.length;
    keys = new Map(authentic.filter((key) => key !== undefined).map((key) => [key.kid, key]));
  }

  async function find(kid: string): Promise<CryptoKey | undefined> {
    if (!keys.has(kid) && Date.now() - readAt > 1_000) await refresh();
    const key = keys.get(kid);
    return key && key.revokedAt === null ? key.publicKey : undefined;
  }

  async function signer(now: Date = new Date()): Promise<{ kid: string; privateKey: KeyObject }> {
    const usable = [...keys.values()].filter((key) => key.status === "active" && key.activeFrom <= now);
    const newest = usable.sort((a, b) => b.activeFrom.getTime() - a.activeFrom.getTime())[0];
    if (!newest?.privateJwe) throw new Error("no signing key is active");
    const cached = privateKeys.get(newest.kid);
    if (cached) return { kid: newest.kid, privateKey: cached };
    const privateKey = await unwrap(newest.privateJwe, options.secrets.kek);
    privateKeys.set(newest.kid, privateKey);
    return { kid: newest.kid, privateKey };
  }

  const published = (now: Date = new Date()): JWK[] =>
    [...keys.values()].filter((key) => key.revokedAt === null && key.publishFrom <= now).map((key) => key.publicJwk);

  return { refresh, find, signer, published, isHealthy: () => rejected === 0 && keys.size > 0 };
}

export type KeyRing = {
  refresh(): Promise<void>;
  /** The public key to verify with, or undefined for unknown, unauthentic and revoked keys. */
  find(kid: string): Promise<CryptoKey | undefined>;
  /** The newest active key. Throws where there is none: then nothing can be minted or decided. */
  signer(now?: Date): Promise<{ kid: string; privateKey: KeyObject }>;
  /** The public keys for `/.well-known/jwks.json`. */
  published(now?: Date): JWK[];
  isHealthy(): boolean;
};

async function unwrap(privateJwe: string, kek: Uint8Array): Promise<KeyObject> {
  const { plaintext } = await compactDecrypt(privateJwe, kek, {
    keyManagementAlgorithms: ["dir"],
    contentEncryptionAlgorithms: ["A256GCM"],
  });
  return createPrivateKey({ key: JSON.parse(new TextDecoder().decode(plaintext)) as JsonWebKey, format: "jwk" });
}
