import type { RegisteredClient } from "../clients/cache";
import { canonicalJson } from "../json/canonical";
import type { JsonObject } from "../json/value";
import { mac } from "../secrets/mac";
import type { Effective } from "./mint-policy";
import type { MintRequest } from "./mint-request";

/** Keyed, so that nobody without the secret can guess arguments from it (I9). Equal for an equal action of a client for a person. */
export function actionTagOf(tagKey: Uint8Array, client: RegisteredClient, request: MintRequest): Buffer {
  const { iss, sub } = request.caller;
  return mac(tagKey, ["action", client.id, iss, sub, canonicalJson(request.action)]);
}

/** Says for what an approval was minted. Equal where everything shown and everything binding is equal; not `modelNote`, `mcpClient`, ttl and language (section 6). */
export function reuseTagOf(
  tagKey: Uint8Array,
  approvalId: string,
  client: RegisteredClient,
  request: MintRequest,
  effective: Effective,
): Buffer {
  const { modelNote: _note, locale: _locale, ...shown } = request.presentation;
  const { ttlSeconds: _ttl, ...binding } = effective;
  return mac(tagKey, [
    "reuse",
    approvalId,
    client.id,
    client.name,
    canonicalJson({
      caller: request.caller,
      action: request.action,
      shown,
      binding,
      preconditions: request.preconditions ?? null,
    } as JsonObject),
  ]);
}

/** Authenticates the body of an idempotent request without keeping it. */
export function bodyTagOf(tagKey: Uint8Array, request: MintRequest): Buffer {
  return mac(tagKey, ["body", canonicalJson(request as JsonObject)]);
}
