import { headers } from "next/headers";
import { getTranslations } from "next-intl/server";
import type { ReactNode } from "react";
import { isDone, readNotice } from "@/lib/admin/notice";
import { getService } from "@/lib/process";
import { isRecent, type PersonSession, recentSeconds } from "@/lib/sessions/session";
import { signInAgainPath } from "../account/sign-in-again/path";
import { PageFrame } from "../page-frame";

type Props = {
  path: string;
  session: PersonSession;
  /** The page above this one. */
  up?: { href: string; name: string };
  children: ReactNode;
};

/** What stands around an admin's page below the overview: the way up, and what the last form came to. */
export async function AdminFrame({ path, session, up, children }: Props) {
  const t = await getTranslations("admin");
  const { href, name } = up ?? { href: "/admin", name: t("up") };
  const said = await readNotice(getService(), await headers(), { sid: session.sid, page: path });
  return (
    <PageFrame path={path} account={session.account} wide nav={session}>
      <a className="button-plain" href={href}>
        <span className="mr-1.5" aria-hidden="true">
          ‹
        </span>
        {name}
      </a>
      {said ? (
        <p className={`notice mb-3 ${isDone(said.notice) ? "notice-good" : ""}`} role="alert">
          {t(`notices.${said.notice}`)}
        </p>
      ) : null}
      {children}
    </PageFrame>
  );
}

/** Shown where the sign-in is too old to change anything; the forms of the page are left out then. */
export async function SignInFirst({ path, session, now }: { path: string; session: PersonSession; now: Date }) {
  if (isRecent(session, now)) return null;
  const t = await getTranslations("admin");
  return (
    <div className="bg-note border-line mt-4 flex flex-wrap items-center justify-between gap-x-6 gap-y-2 rounded-xl border px-4 py-3">
      <p className="min-w-0 flex-1 basis-64">{t("signInFirst", { minutes: recentSeconds / 60 })}</p>
      <a className="button w-full sm:w-auto" href={signInAgainPath(path)}>
        {t("signIn")}
      </a>
    </div>
  );
}
