import { getTranslations } from "next-intl/server";
import type { TypedLink } from "@/lib/admin/notice";
import type { AdminPerson } from "@/lib/admin/read-person";
import { Outside } from "../../../outside";
import { ActForm, type Acts } from "../../act-form";
import { SaidBy } from "../../named-user";

type Props = { acts: Acts; person: AdminPerson; typed: TypedLink | undefined };

/** Lets this person decide for another identity: says what that means, and asks the admin to vouch for it. */
export async function LinkForm({ acts, person, typed }: Props) {
  const t = await getTranslations("admin.person");
  if (person.isSelf) return <p className="text-muted mt-6 text-sm">{t("linkSelf")}</p>;
  if (!acts.canAct) return null;
  const name = () => (
    <strong>
      <Outside text={person.name} />
    </strong>
  );
  const id = () => <span className="font-mono break-all">{person.userId}</span>;
  return (
    <section className="card mt-6">
      <h2 className="heading row">{t("linkTitle")}</h2>
      <ActForm acts={acts} verb="link" className="row space-y-4">
        <p>{t.rich("linkWhat", { name, id })}</p>
        <SaidBy user={person} />
        {(["iss", "sub"] as const).map((field) => (
          <label className="block" key={field}>
            <span className="label">{t(field)}</span>
            <input
              className="input mt-1 font-mono"
              name={field}
              defaultValue={typed?.[field] ?? ""}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              required
              maxLength={field === "iss" ? 2_000 : 500}
            />
          </label>
        ))}
        <label className="flex min-h-11 items-center gap-3">
          <input className="accent-accent size-6 shrink-0" type="checkbox" name="verified" value="yes" required />
          <span>{t.rich("verified", { name, id })}</span>
        </label>
        <button className="button w-full sm:w-auto" type="submit">
          {t("link")}
        </button>
      </ActForm>
    </section>
  );
}
