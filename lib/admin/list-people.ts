import { openCursor, sealCursor } from "../database/cursor";
import type { Service } from "../process";
import type { PersonSession } from "../sessions/session";
import { type NamedUser, type NamedUserRow, namedUserColumns, readNamedUser } from "../users/named-user";
import { type Role, rolesOf } from "../users/roles";
import { isAdmin } from "./act";

export type ListedPerson = NamedUser & {
  name: string;
  roles: Role[];
  isDisabled: boolean;
  /** Of any identity of theirs; null: never. */
  lastSignInAt: Date | null;
};
export type PeoplePage = { people: ListedPerson[]; nextCursor: string | undefined };

const pageSize = 50;

/**
 * The people by name, page by page, for an admin; undefined for everybody else. `search` finds a part of a name or address, in any case,
 * or a whole user id or `sub`.
 */
export async function listPeople(
  service: Service,
  session: PersonSession,
  filter: { search?: string; cursor?: string } = {},
): Promise<PeoplePage | undefined> {
  if (!isAdmin(session)) return undefined;
  const search = filter.search?.replaceAll("\u0000", "").trim().slice(0, 200) ?? "";
  const after = filter.cursor === undefined ? undefined : openCursor(service.secrets, session.userId, filter.cursor);
  const { rows } = await service.pool.query<PersonRow>(listSql, [
    search === "" ? null : `%${search.replaceAll(/[\\%_]/g, "\\$&")}%`,
    search,
    after?.[0] ?? null,
    after?.[1] ?? null,
    pageSize + 1,
  ]);
  const page = rows.slice(0, pageSize);
  const last = page.at(-1);
  return {
    people: page.map((row) => ({
      ...readNamedUser(row),
      name: row.name,
      roles: rolesOf(service.secrets, { id: row.user_id, roles: row.roles, rolesMac: row.roles_mac }),
      isDisabled: row.disabled_at !== null,
      lastSignInAt: row.last_sign_in_at,
    })),
    nextCursor:
      rows.length > pageSize && last
        ? sealCursor(service.secrets, session.userId, [last.sort_name, last.user_id])
        : undefined,
  };
}

type PersonRow = NamedUserRow & {
  name: string;
  roles: string[];
  roles_mac: Buffer | null;
  disabled_at: Date | null;
  sort_name: string;
  last_sign_in_at: Date | null;
};

const listSql = `
SELECT ${namedUserColumns}, u."name", u."roles", u."roles_mac", u."disabled_at", lower(u."name") AS "sort_name",
  (SELECT max(i."last_sign_in_at") FROM "identity" i WHERE i."user_id" = u."id") AS "last_sign_in_at"
FROM "user" u
WHERE ($1::text IS NULL OR u."name" ILIKE $1 OR u."email" ILIKE $1 OR u."contact" ILIKE $1 OR u."id" = $2
    OR EXISTS (SELECT 1 FROM "identity" i WHERE i."user_id" = u."id" AND i."sub" = $2))
  AND ($3::text IS NULL OR (lower(u."name"), u."id") > ($3::text, $4::text))
ORDER BY lower(u."name"), u."id" LIMIT $5`;
