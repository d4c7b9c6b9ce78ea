import { randomBytes } from "node:crypto";
import { appendAudit } from "../audit/append";
import type { Service } from "../process";
import type { SessionClaims } from "./session";

export type SignIn = {
  userId: string;
  iss: string;
  sub: string;
  amr: string[];
  /** When the person proved who they are, where that is not now: seconds since the epoch, by the provider's word. */
  authTime?: number | undefined;
  userAgent?: string | undefined;
  address?: string | undefined;
};

/** Begins a session for somebody who has just proved who they are, and returns the claims for the cookie. */
export async function startSession(service: Service, signIn: SignIn): Promise<SessionClaims> {
  const sid = `ses_${randomBytes(24).toString("base64url")}`;
  const now = Math.floor(Date.now() / 1000);
  const { userId, iss, sub, amr, userAgent, address, authTime = now } = signIn;
  await service.prisma.$transaction(async (tx) => {
    await tx.session.create({
      data: { sid, userId, userAgent: userAgent?.slice(0, 300) ?? null, address: address ?? null },
    });
    await tx.identity.updateMany({ where: { iss, sub, userId }, data: { lastSignInAt: new Date() } });
    await appendAudit(tx, {
      type: "person.signed_in",
      actor: { kind: "person", iss, sub, userId },
      data: { amr, ...(address ? { address } : {}), ...(userAgent ? { userAgent: userAgent.slice(0, 300) } : {}) },
    });
  });
  return { sid, userId, iss, sub, authTime, amr, startedAt: now };
}
