import { headers } from "next/headers";
import { getTranslations } from "next-intl/server";
import { getService } from "@/lib/process";
import { accountTarget, readFlash } from "@/lib/requests/flash";
import { Outside } from "../outside";
import { PageFrame } from "../page-frame";
import { pageTitle } from "../page-title";
import { requireSession } from "../session";
import { FreezesSection } from "./freezes-section";
import { LinksSection } from "./links-section";
import { PasskeysSection } from "./passkeys-section";
import { SessionsSection } from "./sessions-section";

export const generateMetadata = () => pageTitle("account");

/** Who somebody is here, how they prove it, where they are signed in, and whom they have stopped. */
export default async function AccountPage() {
  const service = getService();
  const session = await requireSession("/account");
  const t = await getTranslations("account");
  const notices = await getTranslations("notices");
  const flash = await readFlash(service, await headers(), { sid: session.sid, target: accountTarget });
  return (
    <PageFrame path="/account" account={session.account} nav={session}>
      <h1 className="text-2xl font-bold">{t("title")}</h1>
      {flash?.notice === "stale_form" ? (
        <p className="notice mt-4" role="alert">
          {notices("stale_form")}
        </p>
      ) : null}
      <section className="mt-4" aria-labelledby="who-title">
        <h2 className="heading mb-2" id="who-title">
          {t("who")}
        </h2>
        <div className="card">
          <p className="row">
            <Outside text={session.name} className="block font-bold break-words" />
            {session.account === session.name ? null : (
              <Outside text={session.account} className="text-muted block break-all" />
            )}
          </p>
          <div className="row">
            <dl className="space-y-2">
              <Mono label={t("iss")} value={session.iss} />
              <Mono label={t("sub")} value={session.sub} />
            </dl>
            <p className="text-muted mt-2 text-sm">{t("identityHint")}</p>
          </div>
        </div>
      </section>
      <FreezesSection service={service} session={session} />
      <PasskeysSection service={service} session={session} />
      <LinksSection service={service} session={session} />
      <SessionsSection service={service} session={session} />
    </PageFrame>
  );
}

/** One tap selects all of it. */
function Mono({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <dt className="label">{label}</dt>
      <dd className="font-mono text-sm break-all select-all">{value}</dd>
    </div>
  );
}
