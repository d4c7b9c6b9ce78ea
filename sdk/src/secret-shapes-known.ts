import type { JsonObject } from "./exact-json";
import type { Naming } from "./secret-shapes-words";

type KnownKind = "private_key" | "api_key" | "token";

/**
 * The kinds of the known shapes in a text: private keys by their armour, provider keys and tokens by prefix, alphabet and length as the
 * providers publish them, and the secret half of an AWS access key where its name says so.
 */
export function knownShapesIn(text: string, naming?: Naming): Set<KnownKind> {
  const kinds = new Set<KnownKind>();
  for (const shape of shapes) {
    if (!kinds.has(shape.kind) && shape.hints.some((hint) => text.includes(hint)) && isThere(shape, text))
      kinds.add(shape.kind);
  }
  if (/^\s*[A-Za-z0-9/+]{40}\s*$/.test(text) && naming?.isAwsSecret()) kinds.add("api_key");
  return kinds;
}

/** Whether an object is a JSON Web Key with a private or symmetric part (RFC 7517, RFC 7518 section 6, RFC 8037). */
export function isPrivateJwk(value: JsonObject): boolean {
  if (typeof value["kty"] !== "string") return false;
  const parts = [value["d"], value["priv"], value["kty"] === "oct" ? value["k"] : undefined];
  return parts.some((part) => typeof part === "string" && part !== "");
}

/** A shape is looked for only where one of its `hints` stands, which is much faster than a pattern. */
type Shape = { kind: KnownKind; hints: readonly string[]; pattern: RegExp };

function isThere({ pattern }: Shape, text: string): boolean {
  for (const [match] of text.matchAll(pattern)) if (!isPlaceholder(match) && !isPhrase(match)) return true;
  return false;
}

/** Documentation writes `ghp_xxxx…`. */
const isPlaceholder = (match: string) => /x{12}$/i.test(match);

/** Words joined by hyphens are no key: `sk-proj-how-we-planned-the-second-release`. The armour of a key, all words, is one. */
const isPhrase = (match: string) => !match.startsWith("-") && !/\d|[A-Za-z]{16}/.test(match);

const after = "(?<![A-Za-z0-9])";
const end = "(?![A-Za-z0-9])";

/** Each pattern is bounded, or ends in a repetition with nothing after it: no text makes it go back and forth. */
const shape = (kind: KnownKind, hints: string, pattern: string, flags = ""): Shape => ({
  kind,
  hints: hints.split(" "),
  pattern: new RegExp(pattern, `g${flags}`),
});

const shapes: readonly Shape[] = [
  // PKCS 1 and 8, SEC 1, OpenSSH, PGP blocks (RFC 7468, RFC 9580), SSH2: the armour is enough, whatever stands for the line ends.
  shape("private_key", "PRIVATE", "-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY"),
  shape("private_key", "b3BlbnNzaC1rZXktdjE", "b3BlbnNzaC1rZXktdjE"),
  shape("private_key", "PuTTY-User-Key-File-", "PuTTY-User-Key-File-[1-9]"),
  shape("private_key", "AGE-SECRET-KEY-", `AGE-SECRET-KEY-(?:PQ-)?1[02-9AC-HJ-NP-Z]{40,}`, "i"),
  shape("private_key", "kty", `\\\\?"(?:d|k|priv)\\\\?"\\s{0,4}:\\s{0,4}\\\\?"[A-Za-z0-9_-]{20,}`),
  shape("private_key", "PrivateKey", `PrivateKey\\s{0,4}=\\s{0,4}[A-Za-z0-9+/]{43}=`),

  shape("api_key", "AKIA ASIA", `${after}A[KS]IA[A-Z0-9]{16}${end}`),
  shape(
    "api_key",
    "ecret_access_key ecretAccessKey ECRET_ACCESS_KEY",
    `secret_?access_?key["'\\s]{0,4}[=:]["'\\s]{0,4}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])`,
    "i",
  ),
  shape("api_key", "sk_ rk_", `${after}[rs]k_(?:live|test)_[A-Za-z0-9]{16,}`),
  shape("api_key", "whsec_", `${after}whsec_[A-Za-z0-9+/]{24,}`),
  shape("api_key", "AIza", `${after}AIza[A-Za-z0-9_-]{35}`),
  shape("api_key", "GOCSPX-", `${after}GOCSPX-[A-Za-z0-9_-]{28}`),
  shape("api_key", "sk-", `${after}sk-[A-Za-z0-9]{32,}`),
  shape("api_key", "sk-", `${after}sk-(?:proj|svcacct|admin|None|or-v1)-[A-Za-z0-9_-]{32,}`),
  shape("api_key", "sk-ant-", `${after}sk-ant-[a-z]{2,8}\\d{2}-[A-Za-z0-9_-]{20,}`),
  shape("api_key", "SG.", `${after}SG\\.[A-Za-z0-9_-]{22}\\.[A-Za-z0-9_-]{43}`),
  shape("api_key", "SK", `${after}SK[0-9a-f]{32}${end}`),
  shape("api_key", "AccountKey= SharedAccessKey=", `(?:Account|SharedAccess)Key=[A-Za-z0-9+/]{43,86}=`),
  shape("api_key", "csk_", `${after}csk_[0-9a-hjkmnp-tv-z]{12}_[A-Za-z0-9_-]{43}`),

  shape("token", "ghp_ gho_ ghu_ ghs_ ghr_", `${after}gh[oprsu]_[A-Za-z0-9_.-]{36,}`),
  shape("token", "github_pat_", `${after}github_pat_[A-Za-z0-9_]{36,}`),
  shape("token", "glpat- gldt- glrt- glptt- glcbt-", `${after}gl(?:pat|dt|rt|ptt|cbt)-[A-Za-z0-9_-]{20,}`),
  shape("token", "xox", `${after}xox[a-eoprs](?:\\.xox[bp])?-[A-Za-z0-9-]{10,}`),
  shape("token", "xapp-", `${after}xapp-[A-Za-z0-9-]{20,}`),
  shape("token", "hooks.slack.com/", `hooks\\.slack\\.com/(?:services|workflows|triggers)/[A-Za-z0-9/]{20,}`),
  shape("token", "ya29.", `${after}ya29\\.[A-Za-z0-9_-]{20,}`),
  shape("token", "npm_", `${after}npm_[A-Za-z0-9]{36}${end}`),
  shape("token", "pypi-", `${after}pypi-AgE[A-Za-z0-9_-]{40,}`),
  shape("token", "hf_", `${after}hf_[A-Za-z0-9]{34,}`),
  shape("token", "shp", `${after}shp(?:at|ca|pa|ss|ua)_[0-9a-fA-F]{32}`),
  shape("token", ":A", `${after}(?:bot)?\\d{8,10}:A[A-Za-z0-9_-]{34}(?![A-Za-z0-9_-])`),
  shape("token", "_v1_", `${after}do[opr]_v1_[0-9a-f]{64}`),
  shape("token", "dckr_pat_", `${after}dckr_pat_[A-Za-z0-9_-]{27}`),
  shape("token", "hvs.", `${after}hvs\\.[A-Za-z0-9_-]{24,}`),
];
