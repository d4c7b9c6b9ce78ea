import { hkdfSync } from "node:crypto";

/**
 * The keys derived from `COUNTERSIGN_SECRET`, one a use, so that none serves two purposes; during a rotation also those of the secret
 * before it. HKDF-SHA256 (RFC 5869), 32 bytes each. Throws `RangeError` for a secret under 32 bytes.
 */
export function deriveSecrets(secret: Uint8Array, previous?: Uint8Array): Secrets {
  return previous ? { ...keysOf(secret), previous: keysOf(previous) } : keysOf(secret);
}

function keysOf(secret: Uint8Array): SecretKeys {
  if (secret.length < 32) throw new RangeError("the secret must be 32 bytes or more");
  const derive = (label: string) =>
    new Uint8Array(hkdfSync("sha256", secret, "countersign", `countersign/${label}/1`, 32));
  return Object.fromEntries(labels.map((label) => [label, derive(label)])) as SecretKeys;
}

const labels = ["session", "kek", "csrf", "stamp", "cursor", "tag", "row", "flash", "flow"] as const;

/**
 * `session` encrypts cookies; `kek` wraps signing keys; `csrf` and `stamp` authenticate forms; `cursor` page cursors; `tag` keys digests
 * of things that could be guessed; `row` authenticates database rows (I17); `flash` encrypts the notice cookie, `flow` the cookie of a
 * step-up or link under way.
 */
export type SecretLabel = (typeof labels)[number];
export type SecretKeys = Record<SecretLabel, Uint8Array>;

/**
 * What is written is written with the keys of the current secret; what is read may also have been written with `previous`: use `isMacOf`,
 * `macsOf` and `open`, which try both.
 */
export type Secrets = SecretKeys & { previous?: SecretKeys };
