import type { Service } from "../process";
import { claimsFromCookie } from "./cookie";
import { absoluteSeconds, idleSeconds, type PersonSession } from "./session";

/**
 * The session that a request belongs to, or undefined: signed out, ended, idle for 8 h, older than 7 d, or its user disabled.
 * Who it is comes from the encrypted cookie; the rows can only end it (section 8).
 */
export async function readSession(service: Service, headers: Headers): Promise<PersonSession | undefined> {
  const claims = await claimsFromCookie(service, headers);
  if (!claims || claims.startedAt + absoluteSeconds <= Date.now() / 1000) return undefined;
  const row = await service.prisma.session.findUnique({ where: { sid: claims.sid } });
  if (
    !row ||
    row.userId !== claims.userId ||
    row.revokedAt !== null ||
    row.lastSeenAt.getTime() + idleSeconds * 1000 <= Date.now()
  )
    return undefined;
  const user = await service.prisma.user.findUnique({ where: { id: claims.userId } });
  if (!user || user.disabledAt !== null) return undefined;
  if (row.lastSeenAt.getTime() + seenEveryMs < Date.now())
    await service.prisma.session.updateMany({ where: { sid: claims.sid }, data: { lastSeenAt: new Date() } });
  return { ...claims, email: user.email, name: user.name, roles: user.roles };
}

/** Coarse, so that reading a page writes at most once in this time. */
const seenEveryMs = 5 * 60 * 1000;
