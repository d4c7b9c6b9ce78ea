import { headers } from "next/headers";
import { getTranslations } from "next-intl/server";
import { getService } from "@/lib/process";
import { samePath } from "@/lib/requests/same-path";
import { readSession } from "@/lib/sessions/read";
import { goTo } from "../go-to";
import { readNextAuthToken } from "../next-auth-token";
import { Outside } from "../outside";
import { PageFrame } from "../page-frame";
import { pageTitle } from "../page-title";

type Search = { searchParams: Promise<{ callbackUrl?: string | string[] }> };

export const generateMetadata = () => pageTitle("signout");

export default async function SignOut({ searchParams }: Search) {
  const session = await readSession(getService(), await headers());
  const { callbackUrl } = await searchParams;
  const to = samePath(typeof callbackUrl === "string" ? callbackUrl : undefined);
  if (!session) goTo(`/signin?callbackUrl=${encodeURIComponent(to)}`);
  const t = await getTranslations("signout");
  const csrfToken = (await readNextAuthToken()) ?? "";
  return (
    <PageFrame path="/signout" account={session.account}>
      <div className="mx-auto mt-6 max-w-md">
        <h1 className="text-2xl font-bold">{t("title")}</h1>
        <p className="text-muted mt-1">
          <Outside text={session.account} />
        </p>
        <form className="mt-5" method="post" action="/api/auth/signout">
          <input type="hidden" name="csrfToken" value={csrfToken} />
          <input type="hidden" name="callbackUrl" value={to} />
          <button className="button w-full" type="submit">
            {t("submit")}
          </button>
        </form>
      </div>
    </PageFrame>
  );
}
