import { hash, verify } from "@node-rs/argon2";
import { type Waiting, withHashSlot } from "./gate";

// Argon2id (the package's default algorithm) with the contract's figures: 19 MiB, two passes, one lane (RFC 9106).
const costs = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Characters (code points) that a password must and may have. */
export const passwordMin = 12;
export const passwordMax = 200;

/** Hashes a password. Errors: `RangeError` naming the bound for one that is too short or too long; `unavailable`. */
export async function hashPassword(password: string): Promise<string> {
  const prepared = prepare(password);
  if ([...prepared].length < passwordMin || isTooLong(password))
    throw new RangeError(`A password has ${passwordMin} to ${passwordMax} characters.`);
  return withHashSlot("known", () => hash(prepared, costs));
}

/** Whether nobody's password can be this one, for its length alone. */
export function isTooLong(password: string): boolean {
  return [...prepare(password)].length > passwordMax;
}

/**
 * Whether `password` is that of `stored`. Without `stored` it takes the same work and is false, so that unknown users are not told apart.
 * `who` says in which queue it waits. Errors: `unavailable`.
 */
export async function verifyPassword(
  stored: string | null | undefined,
  password: string,
  who: Waiting = "stranger",
): Promise<boolean> {
  if (isTooLong(password)) return false;
  const isSame = await withHashSlot(who, () => verify(stored ?? unusable, prepare(password)));
  return isSame && stored !== null && stored !== undefined;
}

/**
 * The mappings of OpaqueString (RFC 8265 section 4.2): every space becomes U+0020, then NFC. The same password typed on two keyboards,
 * or with a Japanese input method's wide space, is the same text.
 */
const prepare = (password: string) => password.replace(/\p{Zs}/gu, " ").normalize("NFC");

/** A hash of random bytes that nobody kept, with the same costs. */
const unusable = "$argon2id$v=19$m=19456,t=2,p=1$Y291bnRlcnNpZ24tbm9ib2R5$3VbYyWZ0o4l7nqfH4vS0m9mGvQw2m0y0Zk0gJx7Qm3E";
