import type { Database } from "../database/prisma";
import { type Policy, policySchema } from "./policy";

export type RegisteredClient = { id: string; name: string; isDisabled: boolean; policyVersion: number; policy: Policy };
export type RegisteredKey = {
  keyId: string;
  secretHash: Uint8Array;
  scopes: string[];
  tools: string[];
  isRevoked: boolean;
  client: RegisteredClient;
};

/**
 * API keys with their client and its policy in force, remembered for five seconds. Statements that change something compare
 * key and policy version again in the database, so a revocation or a stricter policy holds at once there.
 */
export function createClientCache(prisma: Database): ClientCache {
  const remembered = new Map<string, { key: RegisteredKey; until: number }>();
  // Those who ask at once share one read; a read that began before `forget` is remembered no more.
  const underWay = new Map<string, Promise<RegisteredKey | undefined>>();

  async function read(keyId: string): Promise<RegisteredKey | undefined> {
    const reading = readKey(prisma, keyId);
    underWay.set(keyId, reading);
    try {
      const key = await reading;
      if (key && underWay.get(keyId) === reading) remembered.set(keyId, { key, until: Date.now() + 5_000 });
      return key;
    } finally {
      if (underWay.get(keyId) === reading) underWay.delete(keyId);
    }
  }

  async function byKeyId(keyId: string): Promise<RegisteredKey | undefined> {
    const hit = remembered.get(keyId);
    if (hit && hit.until > Date.now()) return hit.key;
    remembered.delete(keyId);
    return underWay.get(keyId) ?? read(keyId);
  }

  function forget(keyId: string): void {
    remembered.delete(keyId);
    underWay.delete(keyId);
  }

  return { byKeyId, forget };
}

export type ClientCache = {
  byKeyId(keyId: string): Promise<RegisteredKey | undefined>;
  forget(keyId: string): void;
};

async function readKey(prisma: Database, keyId: string): Promise<RegisteredKey | undefined> {
  const row = await prisma.apiKey.findUnique({ where: { keyId }, include: { client: true } });
  if (!row) return undefined;
  const client = await withPolicy(prisma, row.client);
  return {
    keyId,
    secretHash: row.secretHash,
    scopes: row.scopes,
    tools: row.tools,
    isRevoked: row.revokedAt !== null,
    client,
  };
}

/** A client by id with the policy in force, or undefined. */
export async function readClient(prisma: Database, clientId: string): Promise<RegisteredClient | undefined> {
  const row = await prisma.client.findUnique({ where: { id: clientId } });
  return row ? withPolicy(prisma, row) : undefined;
}

async function withPolicy(
  prisma: Database,
  row: { id: string; name: string; policyVersion: number; disabledAt: Date | null },
): Promise<RegisteredClient> {
  const stored = await prisma.clientPolicy.findUniqueOrThrow({
    where: { clientId_version: { clientId: row.id, version: row.policyVersion } },
  });
  return {
    id: row.id,
    name: row.name,
    isDisabled: row.disabledAt !== null,
    policyVersion: row.policyVersion,
    policy: policySchema.parse(stored.policy),
  };
}
