import { appendAudit } from "../audit/append";
import type { Database } from "../database/prisma";
import type { Service } from "../process";
import { liveSessions } from "./live";
import { isNameOfSession } from "./name";
import type { PersonSession } from "./session";

/**
 * Ends another session of the same person, named as `listSessions` does; it holds at its next request. False where there is none of this
 * name any more, or it is somebody else's.
 */
export async function revokeSession(service: Service, session: PersonSession, name: string): Promise<boolean> {
  return service.prisma.$transaction(async (tx) => {
    const others = await tx.session.findMany({ where: othersOf(session) });
    const ended = others.find(({ sid }) => isNameOfSession(service.secrets, sid, name));
    if (!ended || (await end(tx, [ended.sid])) === 0) return false;
    const { address, userAgent } = ended;
    const data = { session: name, ...(address ? { address } : {}), ...(userAgent ? { userAgent } : {}) };
    await appendAudit(tx, { type: "person.session_ended", actor: actorOf(session), data });
    return true;
  });
}

/** Ends every session of the same person but this one, and returns how many still held. */
export async function revokeOtherSessions(service: Service, session: PersonSession): Promise<number> {
  return service.prisma.$transaction(async (tx) => {
    let endedSessions = 0;
    // Until there is none: a step-up that was under way has put another session in the place of one of these.
    for (;;) {
      const others = await tx.session.findMany({ where: othersOf(session), select: { sid: true } });
      if (others.length === 0) break;
      const sids = others.map(({ sid }) => sid);
      endedSessions += await end(tx, sids);
    }
    if (endedSessions > 0)
      await appendAudit(tx, { type: "person.session_ended", actor: actorOf(session), data: { endedSessions } });
    return endedSessions;
  });
}

const othersOf = ({ userId, sid }: PersonSession) => ({ ...liveSessions(userId), sid: { not: sid } });

async function end(db: Pick<Database, "session">, sids: string[]): Promise<number> {
  const { count } = await db.session.updateMany({
    where: { sid: { in: sids }, revokedAt: null },
    data: { revokedAt: new Date() },
  });
  return count;
}

const actorOf = ({ iss, sub, userId }: PersonSession) => ({ kind: "person", iss, sub, userId }) as const;
