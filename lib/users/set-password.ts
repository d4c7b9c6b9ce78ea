import { appendAudit } from "../audit/append";
import type { AuditActor } from "../audit/event";
import { hashPassword } from "../passwords/hash";
import { Problem } from "../problem";
import type { Service } from "../process";
import { endAllSessions } from "../sessions/end-all";
import { findUser } from "./find";

/**
 * Replaces the password of a local account and ends all its sessions: whoever held the old one is out. `user` is an address or `usr_…`.
 * Errors: `not_found`, `invalid_request` for a password out of bounds or somebody who signs in at a provider, `unavailable` when too many
 * hashes wait.
 */
export async function setPassword(
  service: Service,
  change: { user: string; password: string },
  actor: AuditActor,
): Promise<{ userId: string; endedSessions: number }> {
  const { id, email } = await findUser(service.prisma, change.user);
  if (email === null) throw refusal("/user", "signs in at a provider and has no password here");
  const passwordHash = await hashPassword(change.password).catch((error: Error) => {
    throw error instanceof RangeError ? refusal("/password", error.message) : error;
  });
  const endedSessions = await service.prisma.$transaction(async (tx) => {
    await tx.user.update({ where: { id }, data: { passwordHash } });
    const ended = await endAllSessions(tx, id);
    await appendAudit(tx, { type: "admin.password_changed", actor, data: { userId: id, endedSessions: ended } });
    return ended;
  });
  return { userId: id, endedSessions };
}

const refusal = (pointer: string, message: string) =>
  new Problem("invalid_request", { errors: [{ pointer, message }] });
