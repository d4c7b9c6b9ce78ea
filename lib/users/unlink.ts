import { appendAudit } from "../audit/append";
import type { AuditActor } from "../audit/event";
import { Problem } from "../problem";
import type { Service } from "../process";
import { endAllSessions } from "../sessions/end-all";
import { findUser } from "./find";
import { isLink } from "./identities";
import type { IdentityRow } from "./identity";

export type Unlinked = {
  userId: string;
  iss: string;
  sub: string;
  changed: boolean;
  endedSessions: number;
  removedPasskeys: number;
};

/**
 * Takes a linked identity away from a user, whoever linked it: from the commit on they decide nothing more in its name and cannot sign in
 * as it. The passkeys that it registered go with it, and where it was ever signed in with, all the user's sessions end, since a session's
 * row does not say of which identity it is. What was decided before stays decided. `changed` is false where it was not linked.
 * Errors: `not_found`; `invalid_request` for an identity of another user, and for the one that the user is: that is disabled, not unlinked.
 */
export async function unlinkIdentity(
  service: Service,
  link: { user: string; iss: string; sub: string },
  actor: AuditActor,
): Promise<Unlinked> {
  const { iss, sub } = link;
  const { id: userId } = await findUser(service.prisma, link.user);
  // PostgreSQL cannot be asked for it.
  if (`${iss}${sub}`.includes("\u0000")) throw refusal("must not contain U+0000");
  return service.prisma.$transaction(async (tx) => {
    const [stored] = await tx.$queryRaw<Stored[]>`
      SELECT "iss", "sub", "user_id" AS "userId", "may_approve" AS "mayApprove", "linked_by" AS "linkedBy", "mac",
        "last_sign_in_at" IS NOT NULL AS "isSignedInWith"
      FROM "identity" WHERE "iss" = ${iss} AND "sub" = ${sub} FOR UPDATE`;
    const result = { userId, iss, sub, changed: false, endedSessions: 0, removedPasskeys: 0 };
    if (!stored) return result;
    if (stored.userId !== userId) throw refusal("belongs to another user");
    if (!isLink(service, stored)) throw refusal("is who this user is, not a link: disable the user instead");
    await tx.identity.delete({ where: { iss_sub: { iss, sub } } });
    const { count: removedPasskeys } = await tx.passkey.deleteMany({ where: { userId, iss, sub } });
    const endedSessions = stored.isSignedInWith ? await endAllSessions(tx, userId) : 0;
    const { linkedBy } = stored;
    await appendAudit(tx, {
      type: "admin.identity_unlinked",
      actor,
      data: { userId, iss, sub, linkedBy, endedSessions, removedPasskeys },
    });
    return { ...result, changed: true, endedSessions, removedPasskeys };
  });
}

type Stored = IdentityRow & { isSignedInWith: boolean };

const refusal = (message: string) => new Problem("invalid_request", { errors: [{ pointer: "/sub", message }] });
