import type { Database } from "../database/prisma";
import type { Secrets } from "../secrets/derive";
import { isMacOf, type MacParts, mac } from "../secrets/mac";

export const roles = ["auditor", "admin"] as const;
export type Role = (typeof roles)[number];

/**
 * Gives a user these roles in place of the ones they had, and authenticates them: a role counts only as written here, so that writing
 * a row makes nobody an admin (I17). In the caller's transaction; that at most one is given, the caller checks.
 */
export async function writeRoles(
  db: Pick<Database, "user">,
  secrets: Secrets,
  userId: string,
  given: Role[],
): Promise<void> {
  const rolesMac = macOfRoles(secrets, userId, given);
  await db.user.update({ where: { id: userId }, data: { roles: given, rolesMac } });
}

/** The roles of a user's row that count: those that `writeRoles` gave to this very user; none where anything else stands there. */
export function rolesOf(secrets: Secrets, row: RolesRow): Role[] {
  return isAuthenticRoles(secrets, row) ? roles.filter((role) => row.roles.includes(role)) : [];
}

type RolesRow = { id: string; roles: string[]; rolesMac: Uint8Array | null };

export function isAuthenticRoles(secrets: Secrets, { id, roles: given, rolesMac }: RolesRow): boolean {
  return rolesMac !== null && isMacOf(secrets, "row", partsOf(id, given), rolesMac);
}

export function macOfRoles(secrets: Secrets, userId: string, given: string[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(mac(secrets.row, partsOf(userId, given)));
}

const partsOf = (userId: string, given: string[]): MacParts => ["roles", userId, ...given];
