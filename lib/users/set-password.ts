import { appendAudit } from "../audit/append";
import type { AuditActor } from "../audit/event";
import { hashPassword } from "../passwords/hash";
import { Problem } from "../problem";
import type { Service } from "../process";
import { endAllSessions } from "../sessions/end-all";
import { findUser } from "./find";

/**
 * Replaces a user's password and ends all their sessions: whoever held the old one is out. Errors: `not_found`, `invalid_request` for
 * a password out of bounds, `unavailable` when too many hashes wait.
 */
export async function setPassword(
  service: Service,
  change: { email: string; password: string },
  actor: AuditActor,
): Promise<{ userId: string; endedSessions: number }> {
  const { id } = await findUser(service.prisma, change.email);
  const passwordHash = await hashPassword(change.password).catch((error: Error) => {
    if (!(error instanceof RangeError)) throw error;
    throw new Problem("invalid_request", { errors: [{ pointer: "/password", message: error.message }] });
  });
  const endedSessions = await service.prisma.$transaction(async (tx) => {
    await tx.user.update({ where: { id }, data: { passwordHash } });
    const ended = await endAllSessions(tx, id);
    await appendAudit(tx, { type: "admin.password_changed", actor, data: { userId: id, endedSessions: ended } });
    return ended;
  });
  return { userId: id, endedSessions };
}
