import { createPrivateKey, type JsonWebKey, type KeyObject } from "node:crypto";
import type { CryptoKey, JWK } from "jose";
import type { Database } from "../database/prisma";
import type { Logger } from "../log";
import type { Secrets } from "../secrets/derive";
import { unwrapPrivatePart } from "./private-part";
import { authenticateSigningKey, type SigningKey } from "./signing-key";

/**
 * The signing keys of this deployment, read from the database and authenticated. A row that fails is not loaded, not
 * published, and makes `isHealthy()` false. Re-read every 30 s by the worker, when another process announces a change, and at once for
 * an unknown `kid` (at most once a second). A key that was seen revoked stays so in this process, whatever its row says later.
 */
export function createKeyRing(options: { prisma: Database; secrets: Secrets; log: Logger }): KeyRing {
  let keys = new Map<string, SigningKey>();
  let rejected = 0;
  let readAt = 0;
  let reads = 0;
  let newestRead = 0;
  const revokedFrom = new Map<string, Date>();
  const privateKeys = new Map<string, KeyObject>();

  async function refresh(): Promise<void> {
    readAt = Date.now();
    reads += 1;
    const read = reads;
    const rows = await options.prisma.signingKey.findMany();
    const authentic = await Promise.all(rows.map((row) => authenticateSigningKey(options.secrets, row)));
    // Of two reads at once the later one counts, whichever ends first.
    if (read < newestRead) return;
    newestRead = read;
    const missing = rows.filter((_, i) => authentic[i] === undefined).map((row) => row.kid);
    if (missing.length > rejected)
      options.log.error(
        { kids: missing },
        "signing keys in the database were not written with our secret; they are ignored",
      );
    rejected = missing.length;
    keys = new Map(authentic.filter((key) => key !== undefined).map((key) => [key.kid, key]));
    for (const key of keys.values()) if (key.revokedAt) revokedFrom.set(key.kid, key.revokedAt);
    for (const kid of privateKeys.keys()) if (!isActive(keys.get(kid))) privateKeys.delete(kid);
  }

  const isActive = (key: SigningKey | undefined): key is SigningKey =>
    key?.status === "active" && !revokedFrom.has(key.kid);

  async function find(kid: string, revokedKids: readonly string[] = []): Promise<CryptoKey | undefined> {
    const isNews = revokedKids.some((revoked) => keys.has(revoked) && !revokedFrom.has(revoked));
    if (isNews || (!keys.has(kid) && Date.now() - readAt > 1_000)) await refresh();
    return revokedFrom.has(kid) || revokedKids.includes(kid) ? undefined : keys.get(kid)?.publicKey;
  }

  function findRevoked(kid: string): { publicKey: CryptoKey; revokedAt: Date } | undefined {
    const revokedAt = revokedFrom.get(kid);
    const publicKey = keys.get(kid)?.publicKey;
    return revokedAt && publicKey && { publicKey, revokedAt };
  }

  async function signer(now: Date = new Date()): Promise<{ kid: string; privateKey: KeyObject }> {
    const usable = [...keys.values()].filter((key) => isActive(key) && key.activeFrom <= now);
    const newest = usable.sort((a, b) => b.activeFrom.getTime() - a.activeFrom.getTime())[0];
    if (!newest?.privateJwe) throw new Error("no signing key is active");
    const { kid } = newest;
    const cached = privateKeys.get(kid);
    if (cached) return { kid, privateKey: cached };
    const plaintext = await unwrapPrivatePart(options.secrets, kid, newest.privateJwe);
    const key = JSON.parse(new TextDecoder().decode(plaintext)) as JsonWebKey;
    const privateKey = createPrivateKey({ key, format: "jwk" });
    privateKeys.set(kid, privateKey);
    return { kid, privateKey };
  }

  const published = (now: Date = new Date()): JWK[] =>
    [...keys.values()].filter((key) => !revokedFrom.has(key.kid) && key.publishFrom <= now).map((key) => key.publicJwk);

  return { refresh, find, findRevoked, signer, published, isHealthy: () => rejected === 0 && keys.size > 0 };
}

export type KeyRing = {
  refresh(): Promise<void>;
  /**
   * The public key to verify with, or undefined for unknown, unauthentic and revoked keys. `revokedKids` are those that the database has just
   * called revoked: where that is news, the keys are read again first, so that nothing is signed with one of them either.
   */
  find(kid: string, revokedKids?: readonly string[]): Promise<CryptoKey | undefined>;
  /** A revoked key, to read history with: it grants and decides nothing. What it signed from `revokedAt` on proves nothing. */
  findRevoked(kid: string): { publicKey: CryptoKey; revokedAt: Date } | undefined;
  /** The newest active key. Throws where there is none: then nothing can be minted or decided. */
  signer(now?: Date): Promise<{ kid: string; privateKey: KeyObject }>;
  /** The public keys for `/.well-known/jwks.json`. */
  published(now?: Date): JWK[];
  isHealthy(): boolean;
};
