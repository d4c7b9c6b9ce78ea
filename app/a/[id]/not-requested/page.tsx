import { getLocale, getTranslations } from "next-intl/server";
import { statusAt } from "@/lib/approvals/approval";
import { buildView } from "@/lib/views/build";
import { goTo } from "../../../go-to";
import { PageFrame } from "../../../page-frame";
import { pageTitle } from "../../../page-title";
import { Bindings } from "../bindings";
import { openPage } from "../open-page";
import { Shown } from "../shown";

type Props = { params: Promise<{ id: string }> };

export const generateMetadata = () => pageTitle("notRequested");

/** Asks once more, since it ends everything this client has open with this person. */
export default async function NotRequestedPage({ params }: Props) {
  const { id } = await params;
  const page = await openPage(id);
  if (page.isMissing) return page.miss;
  const { service, session, opened } = page;
  if (!opened.record || statusAt(opened.approval, opened.now) !== "pending") goTo(`/a/${id}`);
  const t = await getTranslations("notRequested");
  const view = buildView(opened.record, (await getLocale()) === "ja" ? "ja" : "en");
  return (
    <PageFrame path={`/a/${id}/not-requested`} account={session.account}>
      <h1 className="mt-4 text-2xl font-bold">{t("title")}</h1>
      <p className="mt-3 text-lg">
        <Shown text={view.title} />
      </p>
      <ul className="mt-4 list-disc space-y-2 pl-5">
        <li>{t("declines")}</li>
        <li>
          {t.rich("withdraws", {
            client: () => (
              <strong>
                <Shown text={view.clientName} />
              </strong>
            ),
          })}
        </li>
        <li>{t("freezes")}</li>
      </ul>
      <form className="mt-6 grid gap-3 sm:grid-cols-2" method="post" action={`/a/${id}/decision`}>
        <Bindings service={service} session={session} opened={opened} record={opened.record} view={view} />
        <button className="button border-danger text-danger" type="submit" name="decision" value="not_requested">
          {t("confirm")}
        </button>
        <a className="button" href={`/a/${id}`}>
          {t("back")}
        </a>
      </form>
    </PageFrame>
  );
}
