import type { Prisma } from "../generated/prisma/client";
import { absoluteSeconds, idleSeconds } from "./session";

/** The sessions of a user that may still hold: not ended, not idle for 8 h, not older than 7 d. */
export function liveSessions(userId: string, now = Date.now()): Prisma.SessionWhereInput {
  return {
    userId,
    revokedAt: null,
    lastSeenAt: { gt: new Date(now - idleSeconds * 1000) },
    createdAt: { gt: new Date(now - absoluteSeconds * 1000) },
  };
}
