import { getTranslations } from "next-intl/server";
import type { NamedUser } from "@/lib/users/named-user";
import { Outside } from "../outside";
import { adminPath } from "./posted-form";

/** A user by what they are called and by their id, with a link to their page. */
export async function UserLink({ user }: { user: NamedUser }) {
  return (
    <>
      <a className="underline underline-offset-2" href={adminPath("user", user.userId)}>
        <Outside text={user.account} />
      </a>{" "}
      <span className="text-muted font-mono text-sm break-all">{user.userId}</span>
      <SaidBy user={user} />
    </>
  );
}

/** Whose word name and address are, where not this service's own: somebody may be called there like a local account here. */
export async function SaidBy({ user, className = "" }: { user: NamedUser; className?: string }) {
  if (user.isLocal) return null;
  const t = await getTranslations("admin");
  const { saidBy } = user;
  return (
    <span className={`text-muted block text-sm break-words ${className}`}>
      {saidBy === null ? t("saidByProvider") : t.rich("saidBy", { iss: () => <Outside text={saidBy} /> })}
    </span>
  );
}
