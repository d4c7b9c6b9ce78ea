import { headers } from "next/headers";
import { getTranslations } from "next-intl/server";
import { readClock } from "@/lib/database/clock";
import type { Service } from "@/lib/process";
import { type LinkNotice, linksTarget, readFlash } from "@/lib/requests/flash";
import { csrfToken } from "@/lib/sessions/csrf";
import { isRecent, type PersonSession } from "@/lib/sessions/session";
import { type ListedIdentity, listIdentities } from "@/lib/users/identities";
import { goTo } from "../go-to";
import { HiddenFields } from "../hidden-fields";
import { readNextAuthToken } from "../next-auth-token";
import { Outside } from "../outside";
import { ProviderForm } from "../provider-form";
import { linkTarget, signInAgain, unlinkTarget } from "./links/target";

type Props = { service: Service; session: PersonSession };

/** Whom else the person is known as: linked by themself for sign-in and inbox, or by an admin to decide. */
export async function LinksSection({ service, session }: Props) {
  const t = await getTranslations("links");
  const identities = (await listIdentities(service, session.userId)).filter(({ origin }) => origin !== null);
  if (identities.length < 2 && service.config.oidcProviders.length === 0) return null;
  const flash = await readFlash(service, await headers(), { sid: session.sid, target: linksTarget });
  const mayChange = isRecent(session, await readClock(service.pool));
  return (
    <section className="mt-8" id="links" aria-labelledby="links-title">
      <h2 className="heading mb-2" id="links-title">
        {t("title")}
      </h2>
      {flash ? (
        <p className={`notice mb-3 ${good.has(flash.notice as LinkNotice) ? "notice-good" : ""}`} role="alert">
          {t(`notices.${flash.notice as LinkNotice}`)}
        </p>
      ) : null}
      <div className="card">
        <p className="row text-muted text-sm">{t("what")}</p>
        {identities.map((identity) => (
          <Row
            key={JSON.stringify([identity.iss, identity.sub])}
            service={service}
            session={session}
            identity={identity}
            mayChange={mayChange}
          />
        ))}
        <Add service={service} session={session} mayChange={mayChange} />
      </div>
    </section>
  );
}

const good = new Set<LinkNotice>(["linked", "unlinked", "already_linked"]);

type RowProps = Props & { identity: ListedIdentity; mayChange: boolean };

async function Row({ service, session, identity, mayChange }: RowProps) {
  const t = await getTranslations("links");
  const { iss, sub, origin } = identity;
  const isCurrent = iss === session.iss && sub === session.sub;
  const label = origin === "self" ? t("local") : providerOf(service, iss)?.label;
  const csrf = csrfToken(service.secrets, { sid: session.sid, purpose: "account", target: unlinkTarget(identity) });
  const id = `identity-${Buffer.from(`${iss}\n${sub}`).toString("base64url")}`;
  return (
    <div className="row flex flex-wrap items-center justify-between gap-x-4">
      <div className="min-w-0" id={id}>
        <span className="block font-bold">
          {label ?? <Outside text={iss} />} {isCurrent ? <span className="tag">{t("current")}</span> : null}
        </span>
        <span className="text-muted block text-sm break-all">
          <Outside text={sub} />
        </span>
        {origin ? <span className="text-muted block text-sm">{t(`linkedBy.${origin}`)}</span> : null}
      </div>
      {origin === "self_service" && mayChange && !isCurrent ? (
        <form method="post" action="/account/links/unlink">
          <HiddenFields fields={{ csrf, iss, sub }} />
          <button className="button-plain" type="submit" aria-describedby={id}>
            {t("unlink")}
          </button>
        </form>
      ) : null}
    </div>
  );
}

/** The person has to be here, by a fresh sign-in of this account, before another one is joined to it. */
async function Add({ service, session, mayChange }: Props & { mayChange: boolean }) {
  const t = await getTranslations("links");
  const { oidcProviders } = service.config;
  if (!mayChange)
    return (
      <div className="row space-y-3">
        <p>{t("changeFirst")}</p>
        <a className="button" href={signInAgain}>
          {t("signInAgain")}
        </a>
      </div>
    );
  if (oidcProviders.length === 0) return null;
  const nextAuthToken = await readNextAuthToken();
  if (!nextAuthToken) goTo("/api/auth/csrf?callbackUrl=/account");
  const csrf = (target: string) => csrfToken(service.secrets, { sid: session.sid, purpose: "account", target });
  return (
    <div className="row space-y-3">
      {oidcProviders.map((provider) => (
        <ProviderForm
          key={provider.id}
          provider={provider}
          csrfToken={nextAuthToken}
          fields={{ callbackUrl: "/account", flow: "link", csrf: csrf(linkTarget(provider.id)) }}
          label={t("link", { label: provider.label })}
        />
      ))}
    </div>
  );
}

const providerOf = (service: Service, iss: string) =>
  service.config.oidcProviders.find(({ subjectIssuer }) => subjectIssuer === iss);
