import { getTranslations } from "next-intl/server";
import type { ListedIdentity } from "@/lib/users/identities";
import { instantFormat } from "../../../instant";
import { Outside } from "../../../outside";
import { ActForm, type Acts } from "../../act-form";

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
  const { iss, sub, origin, isAdminLink, isAuthentic, isLink, lastSignInAt } = identity;
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
          {origin ? t(`person.linkedBy.${origin}`) : null}
          <span className="text-muted">
            {origin ? " · " : null}
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
