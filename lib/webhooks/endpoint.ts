import type { Secrets } from "../secrets/derive";
import { open, seal } from "../secrets/seal";

/** Why an endpoint gets nothing: an admin stopped it, it answered 410, or it failed for days. */
export type DisabledReason = "admin" | "gone" | "failing";

/** What binds a secret to its endpoint: rows are not trusted, so this is what a delivery goes by (I17). */
export type SealedEndpoint = { endpointId: string; clientId: string; url: string; secret: string };

const purpose = "webhook-endpoint";

/** Encrypts a secret together with what it is for: put into another row, or beside another URL, it opens for nothing. */
export function sealEndpoint(secrets: Secrets, endpoint: SealedEndpoint): Promise<string> {
  return seal(secrets, "kek", purpose, endpoint);
}

/**
 * The secret of an endpoint, where its row says what was sealed with it; undefined where id, client or URL was changed without the
 * deployment's secret.
 */
export async function openEndpoint(
  secrets: Secrets,
  row: Omit<SealedEndpoint, "secret">,
  jwe: string,
): Promise<string | undefined> {
  const opened = (await open(secrets, "kek", purpose, jwe)) as Partial<SealedEndpoint> | undefined;
  if (!opened || opened.endpointId !== row.endpointId || opened.clientId !== row.clientId || opened.url !== row.url)
    return undefined;
  return opened.secret;
}

/** Whether a text could be an endpoint's id; says nothing about whether there is one. */
export function isEndpointId(text: string): boolean {
  return /^whe_[0-9a-hjkmnp-tv-z]{26}$/.test(text);
}
