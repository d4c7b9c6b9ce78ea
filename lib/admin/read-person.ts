import { readClock } from "../database/clock";
import type { Service } from "../process";
import { liveSessions } from "../sessions/live";
import type { PersonSession } from "../sessions/session";
import { type ListedIdentity, listIdentities } from "../users/identities";
import { type NamedUser, nameUser } from "../users/named-user";
import { type Role, rolesOf } from "../users/roles";
import { isAdmin } from "./act";

export type AdminPerson = NamedUser & {
  now: Date;
  name: string;
  roles: Role[];
  createdAt: Date;
  disabledAt: Date | null;
  hasPassword: boolean;
  identities: ListedIdentity[];
  /** Running now: neither ended nor idle for too long nor too old. */
  sessions: number;
  passkeys: number;
  /** The admin who is looking. */
  isSelf: boolean;
};

/** One person with their identities, for an admin; undefined for everybody else and for what does not exist. */
export async function readPersonForAdmin(
  service: Service,
  session: PersonSession,
  userId: string,
): Promise<AdminPerson | undefined> {
  if (!isAdmin(session) || userId.includes("\u0000")) return undefined;
  const { prisma, secrets } = service;
  const user = await prisma.user.findUnique({ where: { id: userId } });
  if (!user) return undefined;
  const now = await readClock(service.pool);
  const [identities, sessions, passkeys] = await Promise.all([
    listIdentities(service, userId),
    prisma.session.count({ where: liveSessions(userId, now.getTime()) }),
    prisma.passkey.count({ where: { userId } }),
  ]);
  return {
    now,
    ...nameUser(user, identities),
    name: user.name,
    roles: rolesOf(secrets, user),
    createdAt: user.createdAt,
    disabledAt: user.disabledAt,
    hasPassword: user.passwordHash !== null,
    identities,
    sessions,
    passkeys,
    isSelf: userId === session.userId,
  };
}
