import { getLocale, getTranslations } from "next-intl/server";
import { getService } from "@/lib/process";

type Frame = {
  children: React.ReactNode;
  path: string;
  account?: string;
  wide?: boolean;
  nav?: { isAuditor: boolean };
};

/** What stands around every page: the organisation, who is signed in, the language. */
export async function PageFrame({ children, path, account, wide = false, nav }: Frame) {
  const t = await getTranslations("frame");
  const width = wide ? "max-w-5xl" : "max-w-2xl";
  return (
    <>
      <header className="bg-card border-line border-b">
        <div className={`mx-auto ${width} flex flex-wrap items-center justify-between gap-x-4 px-4 py-2 sm:px-6`}>
          <span className="flex min-h-9 items-center gap-2.5">
            <Emblem />
            <strong>{getService().config.name}</strong>
          </span>
          {account ? <bdi className="text-muted min-w-0 text-sm break-all">{account}</bdi> : null}
        </div>
      </header>
      <div className={`mx-auto ${width} px-4 pt-4 pb-10 sm:px-6`}>
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
          {account ? (
            <a className="button-plain" href="/signout">
              {t("signOut")}
            </a>
          ) : null}
        </footer>
      </div>
    </>
  );
}

function Emblem() {
  return (
    <svg className="size-6 shrink-0" viewBox="0 0 32 32" aria-hidden="true">
      <rect className="fill-accent" width="32" height="32" rx="8" />
      <path
        className="stroke-accent-ink"
        d="M8.5 17l5 5L23.5 11"
        fill="none"
        strokeWidth="3.4"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
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
