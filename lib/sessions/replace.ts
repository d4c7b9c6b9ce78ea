import { randomBytes } from "node:crypto";
import { appendAudit } from "../audit/append";
import type { Service } from "../process";
import type { PersonSession, SessionClaims } from "./session";

/** What a step-up was for: an approval's id, or anything that changes the account. */
export const stepUpForAccount = "account";

export type FreshProof = {
  /** Seconds since the epoch: when the person proved anew who they are. */
  authTime: number;
  amr: string[];
  /** An approval's id, or `stepUpForAccount`. */
  stepUpFor: string;
  /** It was a passkey that proved it. */
  byPasskey?: true;
  userAgent?: string | undefined;
  address?: string | undefined;
};

/**
 * Puts a new session in the place of one whose person has just proved who they are: a new `sid`, so that a cookie stolen before is worth
 * nothing after; the same identity and start. Both or neither. Undefined: the old one was ended meanwhile, and stays so.
 */
export async function replaceSession(
  service: Service,
  session: PersonSession,
  proof: FreshProof,
): Promise<SessionClaims | undefined> {
  const { userId, iss, sub, startedAt } = session;
  const { authTime, amr, stepUpFor, byPasskey, address } = proof;
  const userAgent = proof.userAgent?.slice(0, 300);
  const sid = `ses_${randomBytes(24).toString("base64url")}`;
  const isReplaced = await service.prisma.$transaction(async (tx) => {
    const { count } = await tx.session.updateMany({
      where: { sid: session.sid, userId, revokedAt: null },
      data: { revokedAt: new Date() },
    });
    if (count === 0) return false;
    await tx.session.create({ data: { sid, userId, userAgent: userAgent ?? null, address: address ?? null } });
    await tx.identity.updateMany({ where: { iss, sub, userId }, data: { lastSignInAt: new Date() } });
    await appendAudit(tx, {
      type: "person.stepped_up",
      ...(stepUpFor === stepUpForAccount ? {} : { approvalId: stepUpFor }),
      actor: { kind: "person", iss, sub, userId },
      data: { amr, ...(address ? { address } : {}), ...(userAgent ? { userAgent } : {}) },
    });
    return true;
  });
  return isReplaced
    ? { sid, userId, iss, sub, authTime, amr, startedAt, stepUpFor, ...(byPasskey ? { byPasskey } : {}) }
    : undefined;
}
