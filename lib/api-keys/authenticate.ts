import { createHash, timingSafeEqual } from "node:crypto";
import type { RegisteredKey } from "../clients/cache";
import { Problem } from "../problem";
import type { Service } from "../process";

export const scopes = ["approvals:create", "approvals:read", "approvals:consume"] as const;
export type Scope = (typeof scopes)[number];

/**
 * The key of a request's `Authorization: Bearer csk_<keyId>_<secret>`. One answer for every bad key (section 6), with the same work
 * for an unknown one. Errors: `unauthorized`, `missing_scope`.
 */
export async function authenticateKey(service: Service, headers: Headers, scope: Scope): Promise<RegisteredKey> {
  const presented = /^Bearer csk_([0-9A-Za-z]{12})_([A-Za-z0-9_-]{43})$/.exec(headers.get("authorization") ?? "");
  const [, keyId, secret] = presented ?? [];
  if (!keyId || !secret) throw new Problem("unauthorized");
  const key = await service.clients.byKeyId(keyId);
  const hash = createHash("sha256").update(secret).digest();
  const isHeld = timingSafeEqual(hash, key?.secretHash ?? new Uint8Array(32));
  if (!key || !isHeld || key.isRevoked || key.client.isDisabled) throw new Problem("unauthorized");
  if (!key.scopes.includes(scope))
    throw new Problem("missing_scope", { detail: `This needs a key with the scope ${scope}.` });
  return key;
}
