import { getTranslations } from "next-intl/server";
import type { PersonFreeze } from "@/lib/clients/list-freezes";
import { instantFormat } from "../../../instant";
import { Outside } from "../../../outside";
import { ActForm, type Acts } from "../../act-form";
import { UserLink } from "../../named-user";
import { adminPath } from "../../posted-form";

type Props = { acts: Acts; freezes: PersonFreeze[]; nextCursor: string | undefined };

/** Who has frozen this client for themselves ("I didn't ask for this"). */
export async function PersonFreezes({ acts, freezes, nextCursor }: Props) {
  const t = await getTranslations("admin.client");
  const page = adminPath("client", acts.id);
  return (
    <section className="mt-6" id="freezes" aria-label={t("freezes")}>
      <h2 className="heading mb-2">{t("freezes")}</h2>
      {freezes.length === 0 ? (
        <p className="card row text-muted">{t("noFreezes")}</p>
      ) : (
        <ul className="card">
          {freezes.map((freeze) => (
            <FreezeRow acts={acts} freeze={freeze} key={freeze.freezeId} />
          ))}
        </ul>
      )}
      {nextCursor ? (
        <a className="button-plain" href={`${page}?${new URLSearchParams({ cursor: nextCursor })}#freezes`}>
          {t("moreFreezes")}
        </a>
      ) : null}
    </section>
  );
}

async function FreezeRow({ acts, freeze }: { acts: Acts; freeze: PersonFreeze }) {
  const t = await getTranslations("admin.client");
  const instant = await instantFormat();
  const { user, subject, createdAt, until } = freeze;
  return (
    <li className="row flex flex-wrap items-center justify-between gap-x-4">
      <div className="min-w-0" id={freeze.freezeId}>
        {user ? <UserLink user={user} /> : null}
        <p className="text-muted text-sm">
          <Outside text={`${subject.sub} · ${subject.iss}`} />
        </p>
        <p className="text-muted text-sm">{t("freezeUntil", { at: instant(createdAt), until: instant(until) })}</p>
      </div>
      <ActForm acts={acts} verb="lift-freeze" fields={{ freeze: freeze.freezeId }}>
        <button className="button-plain" type="submit" aria-describedby={freeze.freezeId}>
          {t("lift")}
        </button>
      </ActForm>
    </li>
  );
}
