import type { Service } from "../process";
import { isAuthenticIdentity } from "../users/identity";
import { type Role, rolesOf } from "../users/roles";
import { claimsFromCookie } from "./cookie";
import { absoluteSeconds, idleSeconds, type PersonSession, type SessionClaims } from "./session";

/**
 * The session that a request belongs to, or undefined: signed out, ended, idle for 8 h, older than 7 d, its user disabled, or its identity
 * not the user's any more. Who it is comes from the encrypted cookie; the rows can only end it (section 8).
 */
export async function readSession(service: Service, headers: Headers): Promise<PersonSession | undefined> {
  const claims = await claimsFromCookie(service, headers);
  if (!claims || claims.startedAt + absoluteSeconds <= Date.now() / 1000) return undefined;
  const { rows } = await service.pool.query<SessionRow>({
    name: "session-read",
    text: readSql,
    values: [claims.sid, claims.iss, claims.sub],
  });
  const row = rows[0];
  if (!row || row.user_id !== claims.userId || row.revoked_at !== null || row.disabled_at !== null) return undefined;
  if (row.linked_by === null) return undefined;
  if (row.last_seen_at.getTime() + idleSeconds * 1000 <= Date.now()) return undefined;
  if (row.last_seen_at.getTime() + seenEveryMs < Date.now())
    await service.prisma.session.updateMany({ where: { sid: claims.sid }, data: { lastSeenAt: new Date() } });
  return {
    ...claims,
    account: row.email ?? row.contact ?? row.name,
    name: row.name,
    roles: heldRoles(service, claims, row),
  };
}

/**
 * A person may link another identity to themself without an admin; signed in as that one they have no role, so that a weaker provider
 * opens nothing but the inbox (section 8).
 */
function heldRoles({ secrets }: Service, { userId, iss, sub }: SessionClaims, row: SessionRow): Role[] {
  const { may_approve: mayApprove, linked_by: linkedBy, mac } = row;
  if (linkedBy === null || mayApprove === null || mac === null || linkedBy === "self_service") return [];
  if (!isAuthenticIdentity(secrets, { iss, sub, userId, mayApprove, linkedBy, mac })) return [];
  return rolesOf(secrets, { id: userId, roles: row.roles, rolesMac: row.roles_mac });
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
  may_approve: boolean | null;
  linked_by: string | null;
  mac: Uint8Array | null;
};

// Before every page and every decision: one round trip.
const readSql = `
SELECT s."user_id", s."revoked_at", s."last_seen_at", u."email", u."contact", u."name", u."roles", u."roles_mac", u."disabled_at", i."may_approve", i."linked_by", i."mac"
FROM "session" s JOIN "user" u ON u."id" = s."user_id"
  LEFT JOIN "identity" i ON i."iss" = $2 AND i."sub" = $3 AND i."user_id" = s."user_id" WHERE s."sid" = $1`;

/** Coarse, so that reading a page writes at most once in this time. */
const seenEveryMs = 5 * 60 * 1000;
