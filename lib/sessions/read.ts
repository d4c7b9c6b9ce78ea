import type { Service } from "../process";
import { rolesOf } from "../users/roles";
import { claimsFromCookie } from "./cookie";
import { absoluteSeconds, idleSeconds, type PersonSession } from "./session";

/**
 * The session that a request belongs to, or undefined: signed out, ended, idle for 8 h, older than 7 d, or its user disabled.
 * Who it is comes from the encrypted cookie; the rows can only end it (section 8).
 */
export async function readSession(service: Service, headers: Headers): Promise<PersonSession | undefined> {
  const claims = await claimsFromCookie(service, headers);
  if (!claims || claims.startedAt + absoluteSeconds <= Date.now() / 1000) return undefined;
  const { rows } = await service.pool.query<SessionRow>({ name: "session-read", text: readSql, values: [claims.sid] });
  const row = rows[0];
  if (!row || row.user_id !== claims.userId || row.revoked_at !== null || row.disabled_at !== null) return undefined;
  if (row.last_seen_at.getTime() + idleSeconds * 1000 <= Date.now()) return undefined;
  if (row.last_seen_at.getTime() + seenEveryMs < Date.now())
    await service.prisma.session.updateMany({ where: { sid: claims.sid }, data: { lastSeenAt: new Date() } });
  const roles = rolesOf(service.secrets, { id: row.user_id, roles: row.roles, rolesMac: row.roles_mac });
  return { ...claims, account: row.email ?? row.contact ?? row.name, name: row.name, roles };
}

type SessionRow = {
  user_id: string;
  revoked_at: Date | null;
  last_seen_at: Date;
  email: string | null;
  contact: string | null;
  name: string;
  roles: string[];
  roles_mac: Uint8Array | null;
  disabled_at: Date | null;
};

// Before every page and every decision: one round trip.
const readSql = `
SELECT s."user_id", s."revoked_at", s."last_seen_at", u."email", u."contact", u."name", u."roles", u."roles_mac", u."disabled_at"
FROM "session" s JOIN "user" u ON u."id" = s."user_id" WHERE s."sid" = $1`;

/** Coarse, so that reading a page writes at most once in this time. */
const seenEveryMs = 5 * 60 * 1000;
