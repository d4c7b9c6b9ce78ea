import { hkdfSync } from "node:crypto";

/**
 * The keys derived from `COUNTERSIGN_SECRET`, one a use, so that none serves two purposes.
 * HKDF-SHA256 (RFC 5869), 32 bytes each.
 */
export function deriveSecrets(secret: Uint8Array): Secrets {
  if (secret.length < 32) throw new RangeError("the secret must be 32 bytes or more");
  const derive = (label: string) =>
    new Uint8Array(hkdfSync("sha256", secret, "countersign", `countersign/${label}/1`, 32));
  return Object.fromEntries(labels.map((label) => [label, derive(label)])) as Secrets;
}

const labels = ["session", "kek", "csrf", "stamp", "cursor", "tag", "row", "flash"] as const;

/**
 * `session` encrypts cookies; `kek` wraps signing keys; `csrf` and `stamp` authenticate forms; `cursor` page cursors;
 * `tag` keys digests of things that could be guessed; `row` authenticates database rows (I17); `flash` the notice cookie.
 */
export type Secrets = Record<(typeof labels)[number], Uint8Array>;
