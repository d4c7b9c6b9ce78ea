import { getLocale, getTranslations } from "next-intl/server";
import { getService } from "@/lib/process";
import { Outside } from "./outside";

type Frame = {
  children: React.ReactNode;
  path: string;
  account?: string;
  wide?: boolean;
  /** The session, whose roles say which pages there are; left out where nothing should lead away. */
  nav?: { roles: readonly string[] };
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
          {account ? (
            <div className="text-muted min-w-0 text-sm break-all">
              <Outside text={account} />
            </div>
          ) : null}
        </div>
      </header>
      <div className={`mx-auto ${width} px-4 pt-4 pb-10 sm:px-6`}>
        {nav ? <Pages path={path} roles={nav.roles} /> : null}
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

async function Pages({ path, roles }: { path: string; roles: readonly string[] }) {
  const t = await getTranslations("frame");
  const pages = [
    { href: "/inbox", name: t("inbox") },
    ...(roles.includes("auditor") ? [{ href: "/audit", name: t("audit") }] : []),
    ...(roles.includes("admin") ? [{ href: "/admin", name: t("admin") }] : []),
    { href: "/account", name: t("account") },
  ];
  return (
    <nav className="mb-2 flex flex-wrap gap-x-5" aria-label={t("pages")}>
      {pages.map(({ href, name }) => {
        const isHere = path === href || path.startsWith(`${href}/`) || path.startsWith(`${href}?`);
        return (
          <a
            className={`button-plain ${isHere ? "text-ink font-semibold" : ""}`}
            href={href}
            key={href}
            {...(isHere ? { "aria-current": path === href ? ("page" as const) : ("true" as const) } : {})}
          >
            {name}
          </a>
        );
      })}
    </nav>
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
