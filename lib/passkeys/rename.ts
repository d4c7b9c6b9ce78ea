import { appendAudit } from "../audit/append";
import type { Service } from "../process";
import type { PersonSession } from "../sessions/session";
import { cleanPasskeyName } from "./name";

/**
 * Renames a passkey of this session's identity. False, with nothing done: the name is none, or the passkey is not this identity's (any
 * more), as for an unknown one.
 */
export async function renamePasskey(
  service: Service,
  session: PersonSession,
  change: { credentialId: string; name: string },
): Promise<boolean> {
  const name = cleanPasskeyName(change.name);
  if (name === undefined) return false;
  const { userId, iss, sub } = session;
  const { credentialId } = change;
  return service.prisma.$transaction(async (tx) => {
    const { count } = await tx.passkey.updateMany({ where: { credentialId, userId, iss, sub }, data: { name } });
    if (count === 0) return false;
    const actor = { kind: "person", iss, sub, userId } as const;
    await appendAudit(tx, { type: "person.passkey_renamed", actor, data: { credentialId, userId } });
    return true;
  });
}
