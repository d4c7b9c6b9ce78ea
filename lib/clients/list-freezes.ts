import type pg from "pg";
import type { Subject } from "../approvals/approval";
import { subjectsToDecideFor } from "../approvals/subject";
import type { Service } from "../process";
import type { PersonSession } from "../sessions/session";
import { type NamedUser, type NamedUserRow, namedUserColumns, readNamedUser } from "../users/named-user";

/** A freeze that a person has put up ("I didn't ask for this") and that holds now. */
export type PersonFreeze = {
  freezeId: string;
  clientId: string;
  clientName: string;
  subject: Subject;
  /** Whose subject it is; undefined where it belongs to nobody here (any more). */
  user: NamedUser | undefined;
  createdAt: Date;
  until: Date;
};

export type FreezeFilter = {
  clientId?: string;
  subjects?: readonly Subject[];
  /** Those that come after this one; the instant in a form that PostgreSQL reads. */
  after?: { createdAt: string; freezeId: string };
  /** Where left out, all of them. */
  limit?: number;
};

/** The freezes that people have put up and that hold now, by the database's clock, the newest first: of one client, or of all. */
export async function listPersonFreezes(
  db: Pick<pg.Pool, "query">,
  filter: FreezeFilter = {},
): Promise<PersonFreeze[]> {
  const { rows } = await db.query<FreezeRow>(listSql, [
    filter.clientId ?? null,
    filter.subjects?.map(({ iss }) => iss) ?? null,
    filter.subjects?.map(({ sub }) => sub) ?? null,
    filter.after?.createdAt ?? null,
    filter.after?.freezeId ?? null,
    filter.limit ?? null,
  ]);
  return rows.map((row) => ({
    freezeId: row.id,
    clientId: row.client_id,
    clientName: row.client_name,
    subject: { iss: row.subject_iss, sub: row.subject_sub },
    user: row.user_id === null ? undefined : readNamedUser(row),
    createdAt: row.created_at,
    until: row.until,
  }));
}

/** Those that the person of this session may lift: of its own identity, and of those that an admin has linked to them. */
export async function listOwnFreezes(service: Service, session: PersonSession): Promise<PersonFreeze[]> {
  return listPersonFreezes(service.pool, { subjects: await subjectsToDecideFor(service, session) });
}

type FreezeRow = {
  id: string;
  client_id: string;
  client_name: string;
  subject_iss: string;
  subject_sub: string;
  created_at: Date;
  until: Date;
} & (NamedUserRow | { user_id: null });

const listSql = `
SELECT f."id", f."client_id", c."name" AS "client_name", f."subject_iss", f."subject_sub", ${namedUserColumns}, f."created_at", f."until"
FROM "freeze" f JOIN "client" c ON c."id" = f."client_id"
  LEFT JOIN "identity" i ON i."iss" = f."subject_iss" AND i."sub" = f."subject_sub" LEFT JOIN "user" u ON u."id" = i."user_id"
WHERE f."subject_sub" IS NOT NULL AND f."lifted_at" IS NULL AND f."until" > clock_timestamp() AND ($1::text IS NULL OR f."client_id" = $1)
  AND ($2::text[] IS NULL OR (f."subject_iss", f."subject_sub") IN (SELECT * FROM unnest($2::text[], $3::text[])))
  AND ($4::timestamptz IS NULL OR (f."created_at", f."id") < ($4::timestamptz, $5::text))
ORDER BY f."created_at" DESC, f."id" DESC LIMIT $6::int`;
