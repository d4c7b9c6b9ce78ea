import { getLocale, getTranslations } from "next-intl/server";
import { getService } from "@/lib/process";

type Frame = { children: React.ReactNode; path: string; email?: string; wide?: boolean; nav?: { isAuditor: boolean } };

/** What stands around every page: the organisation, who is signed in, the language. */
export async function PageFrame({ children, path, email, wide = false, nav }: Frame) {
  const t = await getTranslations("frame");
  const width = wide ? "max-w-5xl" : "max-w-2xl";
  return (
    <div className={`mx-auto ${width} px-4 pb-10 sm:px-6`}>
      <header className="flex flex-wrap items-center justify-between gap-x-4 py-3">
        <strong className="py-2">{getService().config.name}</strong>
        {email ? <bdi className="text-muted min-w-0 truncate text-sm">{email}</bdi> : null}
      </header>
      {nav ? (
        <nav className="mb-2 flex gap-5" aria-label={t("pages")}>
          <a className="button-plain" href="/inbox">
            {t("inbox")}
          </a>
          {nav.isAuditor ? (
            <a className="button-plain" href="/audit">
              {t("audit")}
            </a>
          ) : null}
        </nav>
      ) : null}
      <main>{children}</main>
      <footer className="text-muted mt-10 flex flex-wrap items-center justify-between gap-x-4 text-sm">
        <LanguageSwitch path={path} />
        {email ? (
          <a className="button-plain" href="/signout">
            {t("signOut")}
          </a>
        ) : null}
      </footer>
    </div>
  );
}

async function LanguageSwitch({ path }: { path: string }) {
  const other = (await getLocale()) === "ja" ? { code: "en", name: "English" } : { code: "ja", name: "日本語" };
  return (
    <form method="post" action="/locale">
      <input type="hidden" name="to" value={path} />
      <button className="button-plain" type="submit" name="locale" value={other.code} lang={other.code}>
        {other.name}
      </button>
    </form>
  );
}
