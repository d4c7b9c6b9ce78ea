import type { RegisteredKey } from "../clients/cache";
import { Problem } from "../problem";
import type { Service } from "../process";

/** The key, its client and policy as they are in the database now. Errors: `unauthorized` where the key was revoked or its client disabled. */
export async function requireValidKey(service: Service, keyId: string): Promise<RegisteredKey> {
  service.clients.forget(keyId);
  const key = await service.clients.byKeyId(keyId);
  if (!key || key.isRevoked || key.client.isDisabled) throw new Problem("unauthorized");
  return key;
}
