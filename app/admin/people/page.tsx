import { getTranslations } from "next-intl/server";
import { type ListedPerson, listPeople } from "@/lib/admin/list-people";
import { getService } from "@/lib/process";
import { instantFormat } from "../../instant";
import { miss } from "../../miss";
import { Outside } from "../../outside";
import { requireSession } from "../../session";
import { AdminFrame } from "../frame";
import { SaidBy } from "../named-user";
import { adminPath } from "../posted-form";
import { adminTitle } from "../title";

type Search = { q?: string | string[]; cursor?: string | string[] };

export const generateMetadata = () => adminTitle("adminPeople");

/** Everybody by name, page by page, or those that a search finds. */
export default async function PeoplePage({ searchParams }: { searchParams: Promise<Search> }) {
  const session = await requireSession("/admin/people");
  const { q, cursor } = await searchParams;
  const search = typeof q === "string" ? q : "";
  const filter = { search, ...(typeof cursor === "string" ? { cursor } : {}) };
  const page = await listPeople(getService(), session, filter);
  if (!page) return miss();
  const t = await getTranslations("admin");
  const more = new URLSearchParams({ ...(search === "" ? {} : { q: search }), cursor: page.nextCursor ?? "" });
  return (
    <AdminFrame path="/admin/people" session={session}>
      <h1 className="text-2xl font-bold">{t("people")}</h1>
      <form className="mt-4 flex flex-wrap items-end gap-3" method="get" action="/admin/people">
        <label className="min-w-0 flex-1 basis-64">
          <span className="label">{t("search")}</span>
          <input className="input mt-1" type="search" name="q" defaultValue={search} maxLength={200} />
        </label>
        <button className="button w-full sm:w-auto" type="submit">
          {t("find")}
        </button>
      </form>
      {page.people.length === 0 ? (
        <p className="card row text-muted mt-4">{t("noPeople")}</p>
      ) : (
        <ul className="card mt-4" aria-label={t("people")}>
          {page.people.map((person) => (
            <PersonRow person={person} key={person.userId} />
          ))}
        </ul>
      )}
      {page.nextCursor ? (
        <a className="button-plain" href={`/admin/people?${more}`}>
          {t("more")}
        </a>
      ) : null}
    </AdminFrame>
  );
}

async function PersonRow({ person }: { person: ListedPerson }) {
  const t = await getTranslations("admin");
  const instant = await instantFormat();
  const { userId, name, account, roles, isDisabled, lastSignInAt } = person;
  return (
    <li>
      <a className="row hover:bg-note grid gap-x-4 gap-y-0.5 sm:grid-cols-[1fr_auto]" href={adminPath("user", userId)}>
        <span className="min-w-0">
          <strong>
            <Outside text={name} />
          </strong>{" "}
          {account === name ? null : (
            <span className="text-muted break-words">
              <Outside text={account} />
            </span>
          )}
        </span>
        <span className="flex flex-wrap items-start gap-1.5">
          {isDisabled ? <span className="tag border-danger text-danger">{t("state.disabled")}</span> : null}
          {roles.map((role) => (
            <span className="tag" key={role}>
              {t(`roles.${role}`)}
            </span>
          ))}
        </span>
        <span className="text-muted font-mono text-sm break-all sm:col-span-2">{userId}</span>
        <SaidBy user={person} className="sm:col-span-2" />
        <span className="text-muted text-sm sm:col-span-2">
          {lastSignInAt ? t("lastSignIn", { at: instant(lastSignInAt) }) : t("neverSignedIn")}
        </span>
      </a>
    </li>
  );
}
