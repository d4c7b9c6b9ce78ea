import type pg from "pg";

/** SQL: whether the person of a subject has signed in here before, as this identity or as another one of the same user. */
export function isSubjectKnownSql(iss: string, sub: string): string {
  return `EXISTS (SELECT 1 FROM "identity" i JOIN "identity" j ON j."user_id" = i."user_id"
    WHERE i."iss" = ${iss} AND i."sub" = ${sub} AND j."last_sign_in_at" IS NOT NULL)`;
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
