import type { RegisteredKey } from "../clients/cache";
import { Problem } from "../problem";
import type { Service } from "../process";
import { countWrongKey } from "../throttle/count-wrong-key";
import { noteThrottled } from "../throttle/note-throttled";
import { isSecret, parseBearerKey } from "./token";

export const scopes = ["approvals:create", "approvals:read", "approvals:consume"] as const;
export type Scope = (typeof scopes)[number];

/**
 * The key of a request's `Authorization: Bearer csk_<keyId>_<secret>`. One answer for every bad key (section 6), with the same work
 * for an unknown one; an address that sends too many is told to wait. The key is looked up first, so a right one never waits for what
 * others do. Errors: `unauthorized`, `throttled`, `missing_scope`.
 */
export async function authenticateKey(service: Service, headers: Headers, scope: Scope): Promise<RegisteredKey> {
  const presented = parseBearerKey(headers.get("authorization"));
  const key = presented && (await service.clients.byKeyId(presented.keyId));
  const isHeld = presented !== undefined && isSecret(presented.secret, key?.secretHash);
  if (!key || !isHeld || key.isRevoked || key.client.isDisabled)
    throw await refusalOf(service, presented !== undefined, headers);
  if (!key.scopes.includes(scope))
    throw new Problem("missing_scope", { detail: `This needs a key with the scope ${scope}.` });
  return key;
}

/** Only what looks like a key is a guess: what a browser can be made to send, such as `Basic`, changes no count (I7). */
async function refusalOf(service: Service, isKey: boolean, headers: Headers): Promise<Problem> {
  if (!isKey) return new Problem("unauthorized");
  const address = headers.get("x-forwarded-for") ?? undefined;
  const { waitSeconds, isFirst } = await countWrongKey(service, address);
  if (waitSeconds === 0) return new Problem("unauthorized");
  service.metrics.countThrottled("api_key");
  if (isFirst) noteThrottled(service, { what: "api_key", address });
  return new Problem("throttled", { retryAfterSeconds: Math.ceil(waitSeconds) });
}
