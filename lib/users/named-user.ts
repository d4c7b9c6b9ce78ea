/** A user as those see them who do not know them: what they are called, and by whom. */
export type NamedUser = {
  userId: string;
  /** The address of a local account, else what their provider calls it, else the name. */
  account: string;
  /** False: name and account are what a provider says, which anybody may have chosen. */
  isLocal: boolean;
  /** `iss` of that provider; null for a local account, and where no sign-in has made the user. */
  saidBy: string | null;
};

export type NamedUserRow = { user_id: string; account: string; is_local: boolean; said_by: string | null };

/** The columns of a `NamedUserRow`, of a row of "user" that the statement calls `u`. */
export const namedUserColumns = `u."id" AS "user_id", coalesce(u."email", u."contact", u."name") AS "account", u."email" IS NOT NULL AS "is_local",
  CASE WHEN u."email" IS NULL THEN (SELECT n."iss" FROM "identity" n WHERE n."user_id" = u."id" AND n."linked_by" = 'sign_in'
    ORDER BY n."created_at", n."iss", n."sub" LIMIT 1) END AS "said_by"`;

export function readNamedUser(row: NamedUserRow): NamedUser {
  return { userId: row.user_id, account: row.account, isLocal: row.is_local, saidBy: row.said_by };
}

/** The same of a user whose identities are read already, the oldest first. */
export function nameUser(
  user: { id: string; email: string | null; contact: string | null; name: string },
  identities: readonly { iss: string; linkedBy: string }[],
): NamedUser {
  const isLocal = user.email !== null;
  const provider = identities.find(({ linkedBy }) => linkedBy === "sign_in");
  return {
    userId: user.id,
    account: user.email ?? user.contact ?? user.name,
    isLocal,
    saidBy: isLocal ? null : (provider?.iss ?? null),
  };
}
