import { getTranslations } from "next-intl/server";
import { getService } from "@/lib/process";
import { samePath } from "@/lib/requests/same-path";
import { goTo } from "../go-to";
import { readNextAuthToken } from "../next-auth-token";
import { PageFrame } from "../page-frame";
import { pageTitle } from "../page-title";

type Search = { searchParams: Promise<{ callbackUrl?: string | string[]; error?: string | string[] }> };

export const generateMetadata = () => pageTitle("signin");

/** Local accounts. A plain form: it works without JavaScript, and password managers know it. */
export default async function SignIn({ searchParams }: Search) {
  const { callbackUrl, error } = await searchParams;
  const t = await getTranslations("signin");
  const to = pathOf(typeof callbackUrl === "string" ? callbackUrl : undefined);
  const csrfToken = await readNextAuthToken();
  // next-auth sets its token on its own route only, and leads back here.
  if (!csrfToken) goTo(`/api/auth/signin?callbackUrl=${encodeURIComponent(to)}`);
  return (
    <PageFrame path={`/signin?callbackUrl=${encodeURIComponent(to)}`}>
      <div className="mx-auto mt-6 max-w-md">
        <h1 className="text-2xl font-bold">{t("title")}</h1>
        <p className="text-muted mt-1">{to.startsWith("/a/") ? t("forApproval") : t("forInbox")}</p>
        {error ? (
          <p className="notice mt-4" role="alert">
            {error === "CredentialsSignin" ? t("wrong") : t("failed")}
          </p>
        ) : null}
        <form className="card mt-5" method="post" action="/api/auth/callback/credentials">
          <div className="space-y-4 p-5">
            <input type="hidden" name="csrfToken" value={csrfToken} />
            <input type="hidden" name="callbackUrl" value={to} />
            <label className="block">
              <span className="label">{t("email")}</span>
              <input className="input mt-1" type="email" name="email" autoComplete="username" required />
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
      </div>
    </PageFrame>
  );
}

/** next-auth hands the place to go on to as a whole URL; ours are paths. */
function pathOf(callbackUrl: string | undefined): string {
  const { url } = getService().config;
  return samePath(callbackUrl?.startsWith(`${url}/`) ? callbackUrl.slice(url.length) : callbackUrl);
}
