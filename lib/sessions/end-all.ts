import { appendAudit } from "../audit/append";
import type { AuditActor } from "../audit/event";
import type { Database } from "../database/prisma";
import type { Service } from "../process";
import { findUser } from "../users/find";
import { liveSessions } from "./live";

/** Ends every session of a user at once, in the caller's transaction, and returns how many still held. */
export async function endAllSessions(db: Pick<Database, "session">, userId: string): Promise<number> {
  const data = { revokedAt: new Date() };
  const { count } = await db.session.updateMany({ where: liveSessions(userId), data });
  // Those that held no more, and what a step-up has meanwhile put in the place of one that did.
  await db.session.updateMany({ where: { userId, revokedAt: null }, data });
  return count;
}

/**
 * Signs a user out everywhere, by an admin; they may sign in again (`disableUser` prevents that). `ref` is an address or `usr_…`. Errors:
 * `not_found`.
 */
export async function endUserSessions(
  service: Service,
  ref: string,
  actor: AuditActor,
): Promise<{ userId: string; endedSessions: number }> {
  const { id } = await findUser(service.prisma, ref);
  return service.prisma.$transaction(async (tx) => {
    const endedSessions = await endAllSessions(tx, id);
    if (endedSessions > 0)
      await appendAudit(tx, { type: "admin.sessions_ended", actor, data: { userId: id, endedSessions } });
    return { userId: id, endedSessions };
  });
}
