import { appendAudit } from "../audit/append";
import type { AuditActor } from "../audit/event";
import { readClock } from "../database/clock";
import { Problem } from "../problem";
import type { Service } from "../process";
import type { PersonSession } from "../sessions/session";
import { mayChangePasskeys } from "./may-change";
import { readPasskeysOfUser } from "./passkey";

/**
 * Removes a passkey of this session's identity: from then on it signs nobody in and approves nothing. `sign_in_again`: see
 * `mayChangePasskeys`. `missing`: it is not this identity's (any more), as for an unknown one. Nothing is done in either case.
 */
export async function removePasskey(
  service: Service,
  session: PersonSession,
  credentialId: string,
): Promise<"removed" | "sign_in_again" | "missing"> {
  const { userId, iss, sub } = session;
  const { length: count } = await readPasskeysOfUser(service.prisma, service.secrets, userId);
  if (!mayChangePasskeys(session, count, await readClock(service.pool))) return "sign_in_again";
  const actor = { kind: "person", iss, sub, userId } as const;
  return (await remove(service, { credentialId, userId, iss, sub }, actor)) ? "removed" : "missing";
}

/** Removes a passkey of a user, whichever of their identities it belongs to, by an admin. Errors: `not_found`. */
export async function removePasskeyOf(
  service: Service,
  passkey: { userId: string; credentialId: string },
  actor: AuditActor,
): Promise<void> {
  if (!(await remove(service, passkey, actor)))
    throw new Problem("not_found", { detail: "This user has no such passkey." });
}

async function remove(
  service: Service,
  where: { credentialId: string; userId: string; iss?: string; sub?: string },
  actor: AuditActor,
): Promise<boolean> {
  const { credentialId, userId } = where;
  return service.prisma.$transaction(async (tx) => {
    const { count } = await tx.passkey.deleteMany({ where });
    if (count === 0) return false;
    await appendAudit(tx, { type: "person.passkey_removed", actor, data: { credentialId, userId } });
    return true;
  });
}
