import type pg from "pg";

/**
 * SQL: whether somebody has signed in here before who may decide for the subject: as this identity, or as the user whom an admin has
 * linked to it.
 */
export function isSubjectKnownSql(iss: string, sub: string): string {
  return `EXISTS (SELECT 1 FROM "identity" i WHERE i."iss" = ${iss} AND i."sub" = ${sub} AND (i."last_sign_in_at" IS NOT NULL
    OR (i."linked_by" = 'admin' AND EXISTS (SELECT 1 FROM "identity" j WHERE j."user_id" = i."user_id" AND j."last_sign_in_at" IS NOT NULL))))`;
}

export async function isSubjectKnown(
  db: Pick<pg.Pool, "query">,
  subject: { iss: string; sub: string },
): Promise<boolean> {
  const { rows } = await db.query<{ known: boolean }>({
    name: "subject-known",
    text: `SELECT ${isSubjectKnownSql("$1", "$2")} AS "known"`,
    values: [subject.iss, subject.sub],
  });
  return rows[0]?.known === true;
}
