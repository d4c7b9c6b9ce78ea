import { appendAudit } from "../audit/append";
import type { AuditActor } from "../audit/event";
import type { Service } from "../process";
import { endAllSessions } from "../sessions/end-all";
import { findUser } from "./find";

/**
 * Disables a user and ends their sessions at once: neither password, passkey nor provider signs them in. Their identities stay theirs,
 * so nobody else can take them over. `ref` is an address or `usr_…`; `changed` is false where they were disabled before. Errors:
 * `not_found`.
 */
export async function disableUser(
  service: Service,
  ref: string,
  actor: AuditActor,
): Promise<{ userId: string; changed: boolean; endedSessions: number }> {
  const { id } = await findUser(service.prisma, ref);
  return service.prisma.$transaction(async (tx) => {
    const { count } = await tx.user.updateMany({ where: { id, disabledAt: null }, data: { disabledAt: new Date() } });
    const endedSessions = await endAllSessions(tx, id);
    if (count === 1) await appendAudit(tx, { type: "admin.user_disabled", actor, data: { userId: id, endedSessions } });
    return { userId: id, changed: count === 1, endedSessions };
  });
}

/**
 * Lets a disabled user sign in again, with what they had before; the sessions that ended stay ended. `changed` is false where they were not
 * disabled. Errors: `not_found`.
 */
export async function enableUser(
  service: Service,
  ref: string,
  actor: AuditActor,
): Promise<{ userId: string; changed: boolean }> {
  const { id } = await findUser(service.prisma, ref);
  return service.prisma.$transaction(async (tx) => {
    const { count } = await tx.user.updateMany({
      where: { id, disabledAt: { not: null } },
      data: { disabledAt: null },
    });
    if (count === 1) await appendAudit(tx, { type: "admin.user_enabled", actor, data: { userId: id } });
    return { userId: id, changed: count === 1 };
  });
}
