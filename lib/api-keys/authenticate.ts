import type { RegisteredKey } from "../clients/cache";
import { Problem } from "../problem";
import type { Service } from "../process";
import { isSecret, parseBearerKey } from "./token";

export const scopes = ["approvals:create", "approvals:read", "approvals:consume"] as const;
export type Scope = (typeof scopes)[number];

/**
 * The key of a request's `Authorization: Bearer csk_<keyId>_<secret>`. One answer for every bad key (section 6), with the same work
 * for an unknown one. Errors: `unauthorized`, `missing_scope`.
 */
export async function authenticateKey(service: Service, headers: Headers, scope: Scope): Promise<RegisteredKey> {
  const presented = parseBearerKey(headers.get("authorization"));
  if (!presented) throw new Problem("unauthorized");
  const key = await service.clients.byKeyId(presented.keyId);
  const isHeld = isSecret(presented.secret, key?.secretHash);
  if (!key || !isHeld || key.isRevoked || key.client.isDisabled) throw new Problem("unauthorized");
  if (!key.scopes.includes(scope))
    throw new Problem("missing_scope", { detail: `This needs a key with the scope ${scope}.` });
  return key;
}
