import type { User } from "../generated/prisma/client";
import { verifyPassword } from "../passwords/hash";
import { Problem } from "../problem";
import type { Service } from "../process";
import { attemptOf } from "../throttle/attempt";
import { countAttempt } from "../throttle/count-attempt";
import { deviceOf } from "../throttle/device-cookie";
import { networkOf } from "../throttle/network";
import { noteThrottled } from "../throttle/note-throttled";
import { uncountAttempt } from "../throttle/uncount-attempt";
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

/**
 * The user of this e-mail address and password, or undefined. Unknown, disabled and wrong take the same work, wait alike and give the same
 * answer. Each attempt is counted before it is verified; one that has to wait is not verified at all. Errors: `throttled` with
 * `retryAfterSeconds`, `unavailable` when too many sign in at once.
 */
export async function authenticate(
  service: Service,
  email: string,
  password: string,
  from: AttemptFrom = {},
): Promise<User | undefined> {
  const handle = handleOf(email);
  // No address has a control character, and PostgreSQL cannot be asked for one.
  const user = /\p{Cc}/u.test(handle) ? null : await service.prisma.user.findUnique({ where: { email: handle } });
  const attempt = attemptOf(service.secrets, "password", handle, sourceOf(service, user, from));
  const waitSeconds = await countAttempt(service.pool, attempt);
  if (waitSeconds > 0) throw throttled(service, user, from, waitSeconds);
  const isRight = await verifyPassword(user?.passwordHash, password).catch(async (error: unknown) => {
    await uncountAttempt(service.pool, attempt, "unverified");
    throw error;
  });
  if (!isRight || !user || user.disabledAt !== null) return undefined;
  await uncountAttempt(service.pool, attempt, "right");
  return user;
}

function sourceOf(service: Service, user: User | null, { session, device, address }: AttemptFrom): string {
  if (session !== undefined) return `session ${session}`;
  const known = deviceOf(service.secrets, user?.id ?? "", device);
  return known === undefined ? `address ${networkOf(address)}` : `device ${known}`;
}

/** The history is written beside the answer, not before it: how long that takes would tell whether there is such an account. */
function throttled(service: Service, user: User | null, { address }: AttemptFrom, waitSeconds: number): Problem {
  noteThrottled(service, { what: "password", address, userId: user?.id }).catch((error: Error) =>
    service.log.error({ reason: error.message }, "a throttled sign-in could not be recorded"),
  );
  return new Problem("throttled", { retryAfterSeconds: Math.ceil(waitSeconds) });
}
