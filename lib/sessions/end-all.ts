import type { Database } from "../database/prisma";

/** Ends every session of a user at once, in the caller's transaction, and returns how many were still running. */
export async function endAllSessions(db: Pick<Database, "session">, userId: string): Promise<number> {
  const { count } = await db.session.updateMany({
    where: { userId, revokedAt: null },
    data: { revokedAt: new Date() },
  });
  return count;
}
