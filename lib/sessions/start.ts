import { randomBytes } from "node:crypto";
import { appendAudit } from "../audit/append";
import type { Database } from "../database/prisma";
import { Problem } from "../problem";
import type { Service } from "../process";
import type { SessionClaims } from "./session";

export type SignIn = {
  userId: string;
  iss: string;
  sub: string;
  amr: string[];
  /** When the person proved who they are, where that is not now: seconds since the epoch, by the provider's word. */
  authTime?: number | undefined;
  /** Of a password sign-in: the hash that was verified, so that one under way while the password is replaced opens nothing. */
  passwordHash?: string | null | undefined;
  userAgent?: string | undefined;
  address?: string | undefined;
};

/**
 * Begins a session for somebody who has just proved who they are, and returns the claims for the cookie. Errors: `unavailable` where the
 * user was disabled, the password replaced, or the identity taken away, while that was going on.
 */
export async function startSession(service: Service, signIn: SignIn): Promise<SessionClaims> {
  const sid = `ses_${randomBytes(24).toString("base64url")}`;
  const now = Math.floor(Date.now() / 1000);
  const { userId, iss, sub, amr, userAgent, address, authTime = now } = signIn;
  await service.prisma.$transaction(async (tx) => {
    await requireUnchanged(tx, signIn);
    await tx.session.create({
      data: { sid, userId, userAgent: userAgent?.slice(0, 300) ?? null, address: address ?? null },
    });
    const { count } = await tx.identity.updateMany({
      where: { iss, sub, userId },
      data: { lastSignInAt: new Date() },
    });
    // Taken away at this moment: whoever did it could not see this session, and has ended all others.
    if (count === 0) throw changed();
    await appendAudit(tx, {
      type: "person.signed_in",
      actor: { kind: "person", iss, sub, userId },
      data: { amr, ...(address ? { address } : {}), ...(userAgent ? { userAgent: userAgent.slice(0, 300) } : {}) },
    });
  });
  return { sid, userId, iss, sub, authTime, amr, startedAt: now };
}

/** Whoever disables the user or replaces the password waits for this sign-in and ends its session, or was first and is seen here. */
async function requireUnchanged(tx: Pick<Database, "$queryRaw">, { userId, passwordHash }: SignIn): Promise<void> {
  const [user] = await tx.$queryRaw<{ password_hash: string | null; disabled_at: Date | null }[]>`
    SELECT "password_hash", "disabled_at" FROM "user" WHERE "id" = ${userId} FOR SHARE`;
  const isSame = passwordHash === undefined || passwordHash === user?.password_hash;
  if (!user || user.disabled_at !== null || !isSame) throw changed();
}

const changed = () =>
  new Problem("unavailable", { detail: "The account was changed at this moment. Please sign in again." });
