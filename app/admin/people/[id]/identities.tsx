import { getTranslations } from "next-intl/server";
import type { ListedIdentity } from "@/lib/users/identities";
import { Outside } from "../../../outside";
import { ActForm, type Acts } from "../../act-form";
import { instantFormat } from "../../instant";

/** As whom a user may decide, and how each identity came to be theirs. */
export async function Identities({ acts, identities }: { acts: Acts; identities: ListedIdentity[] }) {
  const t = await getTranslations("admin.person");
  return (
    <section className="mt-6" aria-label={t("identities")}>
      <h2 className="heading mb-2">{t("identities")}</h2>
      <ul className="card">
        {identities.map((identity, i) => (
          <IdentityRow
            acts={acts}
            identity={identity}
            nameId={`identity-${i}`}
            key={`${identity.iss}\n${identity.sub}`}
          />
        ))}
      </ul>
    </section>
  );
}

type RowProps = { acts: Acts; identity: ListedIdentity; nameId: string };

async function IdentityRow({ acts, identity, nameId }: RowProps) {
  const t = await getTranslations("admin");
  const instant = await instantFormat();
  const { iss, sub, isAdminLink, isAuthentic, isOwn, isLink, lastSignInAt } = identity;
  // What a row says of itself counts only where it was written with the secret.
  const linkedBy = isOwn ? "self" : isAuthentic ? identity.linkedBy : undefined;
  return (
    <li className={`row ${isAdminLink ? "border-l-danger border-l-4 pl-3.5" : ""}`}>
      <p className="font-mono" id={nameId}>
        <Outside text={sub} />
      </p>
      <p className="text-muted text-sm">
        <Outside text={iss} />
      </p>
      <div className="flex flex-wrap items-center justify-between gap-x-4">
        <p className="min-w-0 text-sm">
          {linkedBy ? t(`person.linkedBy.${linkedBy}`) : null}
          <span className="text-muted">
            {linkedBy ? " · " : null}
            {lastSignInAt ? t("lastSignIn", { at: instant(lastSignInAt) }) : t("neverSignedIn")}
          </span>
        </p>
        {isLink ? (
          <ActForm acts={acts} verb="unlink" fields={{ identity: JSON.stringify([iss, sub]) }}>
            <button className="button-plain" type="submit" aria-describedby={nameId}>
              {t("person.unlink")}
            </button>
          </ActForm>
        ) : null}
      </div>
      {isAuthentic ? null : <p className="text-danger text-sm font-semibold">{t("person.notAuthentic")}</p>}
    </li>
  );
}
