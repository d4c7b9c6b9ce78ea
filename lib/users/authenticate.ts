import type { User } from "../generated/prisma/client";
import { isTooLong, verifyPassword } from "../passwords/hash";
import { Problem } from "../problem";
import type { Service } from "../process";
import { type Attempt, attemptOf } from "../throttle/attempt";
import { countAttempt } from "../throttle/count-attempt";
import { deviceOf } from "../throttle/device-cookie";
import { networkOf } from "../throttle/network";
import { notedKey, noteThrottled, type Throttled } from "../throttle/note-throttled";
import { readWait } from "../throttle/read-wait";
import { uncountAttempt } from "../throttle/uncount-attempt";
import { volumeOf } from "../throttle/volume";
import { handleOf } from "./email";

/** Where a password comes from; what is counted together. */
export type AttemptFrom = {
  /** Of the browser, as `trustForwarded` left it. */
  address?: string | undefined;
  /** The device cookie, as `readDeviceCookie` gives it. */
  device?: string | undefined;
  /** The session (`sid`) that steps up: it is the source, instead of device and address. */
  session?: string | undefined;
};

/** Attempts that a network may make in a minute, over all accounts, where nothing else is known of who makes them. */
export const strangersMax = 30;

/**
 * The user of this e-mail address and password, or undefined. Unknown, disabled and wrong take the same work, wait alike and give the same
 * answer. Each attempt is counted before it is verified; one that has to wait is not verified at all and writes nothing. What is too long to
 * be anybody's password is simply wrong: it is neither counted nor verified. Errors: `throttled` with `retryAfterSeconds`, `unavailable`
 * when too many sign in at once.
 */
export async function authenticate(
  service: Service,
  email: string,
  password: string,
  from: AttemptFrom = {},
): Promise<User | undefined> {
  if (isTooLong(password)) return undefined;
  const handle = handleOf(email);
  // No address has a control character, and PostgreSQL cannot be asked for one.
  const user = /\p{Cc}/u.test(handle) ? null : await service.prisma.user.findUnique({ where: { email: handle } });
  const attempt = attemptFor(service, handle, user, from);
  await admit(service, attempt, { what: "password", address: from.address, userId: user?.id });
  const who = attempt.volume ? "stranger" : "known";
  const isRight = await verifyPassword(user?.passwordHash, password, who).catch(async (error: unknown) => {
    await uncountAttempt(service.pool, attempt, "unverified");
    throw error;
  });
  if (!isRight || !user || user.disabledAt !== null) return undefined;
  await uncountAttempt(service.pool, attempt, "right");
  return user;
}

/** Counted together is what comes from one session, one device of this user, or else one network, which also has its volume. */
function attemptFor(service: Service, handle: string, user: User | null, from: AttemptFrom): Attempt {
  const { secrets } = service;
  const { session, device, address } = from;
  if (session !== undefined) return attemptOf(secrets, "password", handle, `session ${session}`);
  const known = user && deviceOf(secrets, user, device);
  if (known) return attemptOf(secrets, "password", handle, `device ${known}`);
  const volume = volumeOf(secrets, "password", address, strangersMax);
  return attemptOf(secrets, "password", handle, `address ${networkOf(address)}`, volume);
}

/** Counts the attempt, or refuses it. */
async function admit(service: Service, attempt: Attempt, throttled: Throttled): Promise<void> {
  const { waitSeconds, isNoted } = await readWait(service.pool, attempt, notedKey(service, throttled));
  const seconds = waitSeconds > 0 ? waitSeconds : await countAttempt(service.pool, attempt);
  if (seconds === 0) return;
  service.metrics.countThrottled("password");
  if (!isNoted) noteThrottled(service, throttled);
  throw new Problem("throttled", { retryAfterSeconds: Math.ceil(seconds) });
}
