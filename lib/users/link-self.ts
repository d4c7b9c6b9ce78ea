import { appendAudit } from "../audit/append";
import { readClock } from "../database/clock";
import { Problem } from "../problem";
import type { Service } from "../process";
import { isRecent, type PersonSession } from "../sessions/session";
import { macOfIdentity } from "./identity";

/**
 * Links an identity that the person of this session has just proved at its provider: it signs them in and fills their inbox, and decides
 * nothing for another one (I2). The caller has judged that both proofs are fresh. `taken`: it is another user's, or is one; an admin has to
 * look at that, for accounts are never joined by themselves.
 */
export async function linkSelf(
  service: Service,
  session: PersonSession,
  proved: { iss: string; sub: string; provider: string },
): Promise<"linked" | "already_linked" | "taken"> {
  const { iss, sub, provider } = proved;
  const { userId } = session;
  const row = { iss, sub, userId, mayApprove: false, linkedBy: "self_service" };
  return service.prisma.$transaction(async (tx) => {
    const mac = macOfIdentity(service.secrets, row);
    const { count } = await tx.identity.createMany({ data: [{ ...row, mac }], skipDuplicates: true });
    if (count === 0) {
      const stored = await tx.identity.findUniqueOrThrow({ where: { iss_sub: { iss, sub } } });
      return stored.userId === userId ? "already_linked" : "taken";
    }
    await appendAudit(tx, { type: "person.identity_linked", actor: actorOf(session), data: { iss, sub, provider } });
    return "linked";
  });
}

/**
 * Takes away a link that the person made themself, with the passkeys that it registered. Where it was ever signed in with, all other
 * sessions of the person end: a session's row does not say of which identity it is. `sign_in_again`: nothing was done, the sign-in is older
 * than 300 s; `in_use`: this very session is of that identity. Errors: `not_found` for one that is no such link of this person's.
 */
export async function unlinkSelf(
  service: Service,
  session: PersonSession,
  { iss, sub }: { iss: string; sub: string },
): Promise<"unlinked" | "sign_in_again" | "in_use"> {
  if (!isRecent(session, await readClock(service.pool))) return "sign_in_again";
  if (session.iss === iss && session.sub === sub) return "in_use";
  const { userId, sid } = session;
  // PostgreSQL cannot be asked for it.
  if (`${iss}${sub}`.includes("\u0000")) throw new Problem("not_found");
  await service.prisma.$transaction(async (tx) => {
    // Locked, so that a sign-in with it that is under way is seen, and so is its session.
    const [stored] = await tx.$queryRaw<{ isSignedInWith: boolean }[]>`
      SELECT "last_sign_in_at" IS NOT NULL AS "isSignedInWith" FROM "identity"
      WHERE "iss" = ${iss} AND "sub" = ${sub} AND "user_id" = ${userId} AND "linked_by" = 'self_service' FOR UPDATE`;
    if (!stored) throw new Problem("not_found", { detail: "There is no such link." });
    await tx.identity.delete({ where: { iss_sub: { iss, sub } } });
    const { count: removedPasskeys } = await tx.passkey.deleteMany({ where: { userId, iss, sub } });
    const { count: endedSessions } = stored.isSignedInWith
      ? await tx.session.updateMany({
          where: { userId, revokedAt: null, sid: { not: sid } },
          data: { revokedAt: new Date() },
        })
      : { count: 0 };
    await appendAudit(tx, {
      type: "person.identity_unlinked",
      actor: actorOf(session),
      data: { iss, sub, endedSessions, removedPasskeys },
    });
  });
  return "unlinked";
}

const actorOf = ({ iss, sub, userId }: PersonSession) => ({ kind: "person", iss, sub, userId }) as const;
