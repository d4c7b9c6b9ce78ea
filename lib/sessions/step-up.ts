import type { Service } from "../process";
import { authenticate } from "../users/authenticate";
import { replaceSession } from "./replace";
import type { PersonSession, SessionClaims } from "./session";

/** Whether the person of a session proves anew who they are with the password of a local account; others do so at their provider. */
export function isLocal(
  service: Pick<Service, "issuer">,
  session: Pick<SessionClaims, "iss" | "sub" | "userId">,
): boolean {
  return session.iss === service.issuer && session.sub === session.userId;
}

/**
 * Proves anew that the person of this session is there, by the password of the same account: another account cannot be switched to. A new
 * session takes the old one's place. `stepUpFor` is an approval's id or `stepUpForAccount`. Undefined: wrong password, no local account, or
 * the session ended meanwhile. Errors: `throttled` with `retryAfterSeconds`, `unavailable`.
 */
export async function stepUp(
  service: Service,
  session: PersonSession,
  password: string,
  stepUpFor: string,
  from: { userAgent?: string | undefined; address?: string | undefined } = {},
): Promise<SessionClaims | undefined> {
  if (!isLocal(service, session)) return undefined;
  // By its id: what the page calls the account may be the address of another one.
  const account = await service.prisma.user.findUnique({ where: { id: session.userId }, select: { email: true } });
  const attempt = { session: session.sid, address: from.address };
  const user = await authenticate(service, account?.email ?? "", password, attempt);
  if (user?.id !== session.userId) return undefined;
  return replaceSession(service, session, {
    authTime: Math.floor(Date.now() / 1000),
    amr: ["pwd"],
    stepUpFor,
    ...from,
  });
}

type Freshness = { maxAuthAgeSeconds: number; stepUpSeconds: number };

/**
 * Whether the sign-in is fresh enough at `now` (the database's clock). `maxAuthAgeSeconds: 0` asks for a step-up for this very approval,
 * no older than `stepUpSeconds`.
 */
export function isFresh(session: SessionClaims, required: Freshness, approvalId: string, now: Date): boolean {
  const isFor = required.maxAuthAgeSeconds > 0 || session.stepUpFor === approvalId;
  return isFor && now < freshUntil(session, required);
}

/** From when on the sign-in is too old: one millisecond after its last. */
export function freshUntil(session: SessionClaims, { maxAuthAgeSeconds, stepUpSeconds }: Freshness): Date {
  return new Date((session.authTime + (maxAuthAgeSeconds === 0 ? stepUpSeconds : maxAuthAgeSeconds)) * 1000 + 1);
}
