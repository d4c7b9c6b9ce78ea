import { headers } from "next/headers";
import { getTranslations } from "next-intl/server";
import { getService } from "@/lib/process";
import { setPageStatus } from "@/lib/requests/page-status";
import { readSession } from "@/lib/sessions/read";
import { Outside } from "./outside";
import { PageFrame } from "./page-frame";

/** Answers a page with 404 and the one page of a miss. */
export function miss() {
  setPageStatus(404);
  return <Miss />;
}

/** The one page for everything that is not there for this person: unknown, malformed and somebody else's look alike (I2). */
export async function Miss() {
  const t = await getTranslations("miss");
  const session = await readSession(getService(), await headers());
  return (
    <PageFrame path="/inbox" {...(session ? { account: session.account } : {})}>
      <div className="mx-auto mt-10 max-w-md text-center">
        <h1 className="text-2xl font-bold">
          {session ? t.rich("title", { email: () => <Outside text={session.account} /> }) : t("titleSignedOut")}
        </h1>
        <p className="text-muted mt-3">{t("hint")}</p>
        <a className="button mt-6" href={session ? "/signout" : "/signin"}>
          {session ? t("switch") : t("signIn")}
        </a>
      </div>
    </PageFrame>
  );
}
