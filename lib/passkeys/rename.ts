import { appendAudit } from "../audit/append";
import { readClock } from "../database/clock";
import type { Service } from "../process";
import { isRecent, type PersonSession } from "../sessions/session";
import { cleanPasskeyName } from "./name";

/**
 * Renames a passkey of this session's identity, within 300 s of a sign-in: whoever finds a browser open cannot make one look like another.
 * `missing`: it is not this identity's (any more), as for an unknown one. Nothing is done unless `renamed`.
 */
export async function renamePasskey(
  service: Service,
  session: PersonSession,
  change: { credentialId: string; name: string },
): Promise<"renamed" | "sign_in_again" | "bad_name" | "missing"> {
  const name = cleanPasskeyName(change.name);
  if (name === undefined) return "bad_name";
  if (!isRecent(session, await readClock(service.pool))) return "sign_in_again";
  const { userId, iss, sub } = session;
  const { credentialId } = change;
  return service.prisma.$transaction(async (tx) => {
    const { count } = await tx.passkey.updateMany({ where: { credentialId, userId, iss, sub }, data: { name } });
    if (count === 0) return "missing";
    const actor = { kind: "person", iss, sub, userId } as const;
    await appendAudit(tx, { type: "person.passkey_renamed", actor, data: { credentialId, userId } });
    return "renamed";
  });
}
