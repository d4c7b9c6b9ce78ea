import type { KeyObject } from "node:crypto";
import type { CryptoKey, JWK } from "jose";
import type { Database } from "../database/prisma";
import type { Logger } from "../log";
import { Problem } from "../problem";
import type { Secrets } from "../secrets/derive";
import { openPrivateKey } from "./private-part";
import { authenticateSigningKey, type SigningKey } from "./signing-key";

/**
 * The signing keys of this deployment, read from the database and authenticated. A row that fails is not loaded, not
 * published, and makes `isHealthy()` false; so does an active key whose private part does not open: it verifies, and signs nothing. Each is
 * logged once, when it fails. Nor is the ring healthy where no key can sign now. Re-read every 30 s by the worker, when another process
 * announces a change, and at once for an unknown `kid` (at most once a second). A key that was seen revoked stays so in this process, whatever its row says later.
 */
export function createKeyRing(options: { prisma: Database; secrets: Secrets; log: Logger }): KeyRing {
  let keys: ReadonlyMap<string, LoadedKey> = new Map();
  let rejected: readonly string[] = [];
  let readAt = 0;
  let reads = 0;
  let newestRead = 0;
  const revokedFrom = new Map<string, Date>();

  async function refresh(): Promise<void> {
    readAt = Date.now();
    reads += 1;
    const read = reads;
    const loaded = await loadKeys(options);
    // Of two reads at once the later one counts, whichever ends first.
    if (read < newestRead) return;
    newestRead = read;
    warnOfNew(options.log, loaded.rejected, rejected);
    rejected = loaded.rejected;
    keys = loaded.keys;
    for (const key of keys.values()) if (key.revokedAt) revokedFrom.set(key.kid, key.revokedAt);
  }

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

  const unrevoked = () => [...keys.values()].filter((key) => !revokedFrom.has(key.kid));

  function signer(now: Date = new Date()): Signer {
    const newest = newestSigner(unrevoked(), now);
    if (!newest)
      throw new Problem("unavailable", { detail: "No signing key can sign; the operator has to look into it." });
    return newest;
  }

  const published = (now: Date = new Date()): JWK[] =>
    unrevoked().flatMap((key) => (key.publishFrom <= now ? key.publicJwk : []));

  const canSign = () => newestSigner(unrevoked(), new Date()) !== undefined;
  const isHealthy = () => rejected.length === 0 && canSign();

  return { refresh, find, findRevoked, signer, published, canSign, isHealthy };
}

export type Signer = { kid: string; privateKey: KeyObject };
type LoadedKey = SigningKey & { privateKey: KeyObject | undefined };

function newestSigner(keys: LoadedKey[], now: Date): Signer | undefined {
  const [newest] = keys
    .filter((key) => key.activeFrom <= now)
    .flatMap(({ kid, activeFrom, privateKey }) => (privateKey ? { kid, activeFrom, privateKey } : []))
    .sort((a, b) => b.activeFrom.getTime() - a.activeFrom.getTime());
  return newest && { kid: newest.kid, privateKey: newest.privateKey };
}

function warnOfNew(log: Logger, rejected: readonly string[], before: readonly string[]): void {
  const kids = rejected.filter((kid) => !before.includes(kid));
  if (kids.length === 0) return;
  log.error({ kids }, "signing keys in the database do not stand up to our secret; they are not used");
}

/** Those that are authentic, with the private parts of those that may sign. Rejected is what is not, and what may sign and cannot. */
async function loadKeys({ prisma, secrets }: { prisma: Database; secrets: Secrets }) {
  const rows = await prisma.signingKey.findMany();
  const keys = new Map<string, LoadedKey>();
  const rejected: string[] = [];
  for (const row of rows) {
    const key = await authenticateSigningKey(secrets, row);
    const isSigner = key?.status === "active" && key.revokedAt === null;
    const privateKey = isSigner ? await openPrivateKey(secrets, row) : undefined;
    if (key) keys.set(key.kid, { ...key, privateKey });
    if (!key || (isSigner && !privateKey)) rejected.push(row.kid);
  }
  return { keys, rejected };
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
  /** The newest active key that can sign. Errors: `unavailable` where there is none: then nothing is minted or decided. */
  signer(now?: Date): Signer;
  /** The public keys for `/.well-known/jwks.json`. */
  published(now?: Date): JWK[];
  canSign(): boolean;
  /** Whether every key stands up to the secret, and one of them can sign now. */
  isHealthy(): boolean;
};
