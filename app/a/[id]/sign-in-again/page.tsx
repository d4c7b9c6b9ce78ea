import { headers } from "next/headers";
import { getTranslations } from "next-intl/server";
import { statusAt } from "@/lib/approvals/approval";
import { readFlash } from "@/lib/requests/flash";
import { csrfToken } from "@/lib/sessions/csrf";
import { isFresh } from "@/lib/sessions/step-up";
import { goTo } from "../../../go-to";
import { PageFrame } from "../../../page-frame";
import { pageTitle } from "../../../page-title";
import { openPage } from "../open-page";

type Props = { params: Promise<{ id: string }> };

export const generateMetadata = () => pageTitle("stepUp");

/** The step-up page: the same account proves anew that its person is there. */
export default async function SignInAgainPage({ params }: Props) {
  const { id } = await params;
  const page = await openPage(id);
  if (page.isMissing) return page.miss;
  const { service, session, opened } = page;
  const { approval, now, record } = opened;
  if (!record || statusAt(approval, now) !== "pending" || isFresh(session, record.requirements, id, now))
    goTo(`/a/${id}`);
  const maxAge = record.requirements.maxAuthAgeSeconds;
  const t = await getTranslations("stepUp");
  const flash = await readFlash(service, await headers(), { sid: session.sid, target: id });
  return (
    <PageFrame path={`/a/${id}/sign-in-again`} account={session.account}>
      <div className="mx-auto mt-6 max-w-md">
        <h1 className="text-2xl font-bold">{t("title")}</h1>
        <p className="text-muted mt-1">
          {maxAge === 0 ? t("whyNow") : t("why", { minutes: Math.max(1, Math.floor(maxAge / 60)) })}
        </p>
        {flash?.notice === "wrong_password" ? (
          <p className="notice mt-4" role="alert">
            {t("wrong")}
          </p>
        ) : null}
        <form className="card mt-5" method="post" action={`/a/${id}/sign-in-again/submit`}>
          <div className="space-y-4 p-5">
            <input
              type="hidden"
              name="csrf"
              value={csrfToken(service.secrets, { sid: session.sid, purpose: "step_up", target: id })}
            />
            <label className="block">
              <span className="label">{t("email")}</span>
              <input className="input mt-1" type="email" autoComplete="username" value={session.account} readOnly />
            </label>
            <label className="block">
              <span className="label">{t("password")}</span>
              <input className="input mt-1" type="password" name="password" autoComplete="current-password" required />
            </label>
            <button className="button button-accent w-full" type="submit">
              {t("submit")}
            </button>
          </div>
        </form>
        <a className="button-plain mt-3" href={`/signout?callbackUrl=/a/${id}`}>
          {t("notYou")}
        </a>
      </div>
    </PageFrame>
  );
}
