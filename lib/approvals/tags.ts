import type { RegisteredClient } from "../clients/cache";
import { canonicalJson } from "../json/canonical";
import type { JsonObject } from "../json/value";
import type { Secrets } from "../secrets/derive";
import { macsOf } from "../secrets/mac";
import type { Effective } from "./mint-policy";
import type { MintRequest } from "./mint-request";

/**
 * Tags are keyed, so that nobody without the secret can guess arguments from them (I9). Each function gives that of the current secret first,
 * which is the one to store, then, during a rotation, that of the secret before it: what is compared may be either.
 */
export type Tags = [Buffer, ...Buffer[]];

/** Equal for an equal action of a client for a person. */
export function actionTagsOf(secrets: Secrets, client: RegisteredClient, request: MintRequest): Tags {
  const { iss, sub } = request.caller;
  return macsOf(secrets, "tag", ["action", client.id, iss, sub, canonicalJson(request.action)]);
}

/** Says for what an approval was minted. Equal where everything shown and everything binding is equal; not `modelNote`, `mcpClient`, ttl and language (section 6). */
export function reuseTagsOf(
  secrets: Secrets,
  approvalId: string,
  client: RegisteredClient,
  request: MintRequest,
  effective: Effective,
): Tags {
  const { modelNote: _note, locale: _locale, ...shown } = request.presentation;
  const { ttlSeconds: _ttl, ...binding } = effective;
  return macsOf(secrets, "tag", [
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
export function bodyTagsOf(secrets: Secrets, request: MintRequest): Tags {
  return macsOf(secrets, "tag", ["body", canonicalJson(request as JsonObject)]);
}
