import type { Service } from "../process";
import { liveSessions } from "./live";
import { nameOfSession } from "./name";

export type ListedSession = {
  /** For `revokeSession`; it is no `sid`. */
  name: string;
  isCurrent: boolean;
  /** When the person signed in, or last proved who they are. */
  createdAt: Date;
  /** To about five minutes. */
  lastSeenAt: Date;
  userAgent: string | null;
  address: string | null;
};

/** Where a user is signed in now: the session `currentSid` first, then those that were seen last. */
export async function listSessions(service: Service, userId: string, currentSid?: string): Promise<ListedSession[]> {
  const rows = await service.prisma.session.findMany({
    where: liveSessions(userId),
    orderBy: [{ lastSeenAt: "desc" }, { sid: "asc" }],
  });
  return rows
    .map(({ sid, createdAt, lastSeenAt, userAgent, address }) => ({
      name: nameOfSession(service.secrets, sid),
      isCurrent: sid === currentSid,
      createdAt,
      lastSeenAt,
      userAgent,
      address,
    }))
    .sort((a, b) => Number(b.isCurrent) - Number(a.isCurrent));
}
