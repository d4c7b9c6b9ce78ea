import { appendAudit } from "../audit/append";
import type { Service } from "../process";
import { authenticate } from "../users/authenticate";
import type { PersonSession, SessionClaims } from "./session";
import { startSession } from "./start";

/**
 * Proves anew that the person of this session is there, by the password of the same account: another account cannot be switched
 * to. A new session takes the old one's place, so that a cookie stolen before is worth nothing after. Undefined: wrong password.
 */
export async function stepUp(
  service: Service,
  session: PersonSession,
  password: string,
  approvalId: string,
  from: { userAgent?: string | undefined; address?: string | undefined } = {},
): Promise<SessionClaims | undefined> {
  const user = await authenticate(service, session.account, password);
  if (user?.id !== session.userId || session.iss !== service.issuer || session.sub !== session.userId) return undefined;
  const fresh = await startSession(service, {
    userId: session.userId,
    iss: session.iss,
    sub: session.sub,
    amr: ["pwd"],
    ...from,
  });
  await service.prisma.session.updateMany({
    where: { sid: session.sid, revokedAt: null },
    data: { revokedAt: new Date() },
  });
  await appendAudit(service.prisma, {
    type: "person.stepped_up",
    approvalId,
    actor: { kind: "person", iss: session.iss, sub: session.sub, userId: session.userId },
  });
  return { ...fresh, startedAt: session.startedAt, stepUpFor: approvalId };
}

/**
 * Whether the sign-in is fresh enough at `now` (the database's clock). `maxAuthAgeSeconds: 0` asks for a step-up for this very approval,
 * no older than `stepUpSeconds`.
 */
export function isFresh(
  session: SessionClaims,
  required: { maxAuthAgeSeconds: number; stepUpSeconds: number },
  approvalId: string,
  now: Date,
): boolean {
  const ageMax = required.maxAuthAgeSeconds === 0 ? required.stepUpSeconds : required.maxAuthAgeSeconds;
  const isFor = required.maxAuthAgeSeconds > 0 || session.stepUpFor === approvalId;
  return isFor && session.authTime >= now.getTime() / 1000 - ageMax;
}
