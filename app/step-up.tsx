import { getTranslations } from "next-intl/server";
import type { Service } from "@/lib/process";
import type { Flash, SignInNotice } from "@/lib/requests/flash";
import { csrfToken } from "@/lib/sessions/csrf";
import { stepUpForAccount } from "@/lib/sessions/replace";
import type { PersonSession } from "@/lib/sessions/session";
import { isLocal } from "@/lib/sessions/step-up";
import { goTo } from "./go-to";
import { readNextAuthToken } from "./next-auth-token";
import { PasskeyStepUp } from "./passkey-step-up";
import { PasswordForm } from "./password-form";
import { ProviderForm } from "./provider-form";

type Props = {
  service: Service;
  session: PersonSession;
  /** An approval's id, or `stepUpForAccount`. */
  stepUpFor: string;
  /** Paths of ours: this page, what its password form is posted to, and where a success leads. */
  page: string;
  submitTo: string;
  to: string;
  why: string;
  flash: Flash | undefined;
};

/** Asks the person of this session to prove anew who they are, in the way that this session's identity has. */
export async function StepUp({ service, session, stepUpFor, page, submitTo, to, why, flash }: Props) {
  const t = await getTranslations("stepUp");
  const csrf = csrfToken(service.secrets, { sid: session.sid, purpose: "step_up", target: stepUpFor });
  const provider = service.config.oidcProviders.find(({ subjectIssuer }) => subjectIssuer === session.iss);
  const nextAuthToken = provider && (await readNextAuthToken());
  if (provider && !nextAuthToken) goTo(`/api/auth/csrf?callbackUrl=${encodeURIComponent(page)}`);
  const approval = stepUpFor === stepUpForAccount ? "" : stepUpFor;
  return (
    <div className="mx-auto mt-6 max-w-md">
      <h1 className="text-2xl font-bold">{t("title")}</h1>
      <p className="text-muted mt-1">{why}</p>
      {flash ? (
        <p className="notice mt-4" role="alert">
          {t(`notices.${flash.notice as SignInNotice}`, { seconds: Number(flash.note) || 1 })}
        </p>
      ) : null}
      {isLocal(service, session) ? (
        <PasswordForm action={submitTo} fields={{ csrf, to }} account={session.account} />
      ) : null}
      {provider && nextAuthToken ? (
        <div className="mt-5">
          <ProviderForm
            provider={provider}
            csrfToken={nextAuthToken}
            fields={{ callbackUrl: page, flow: "step_up", approval, to, csrf }}
            label={t("with", { label: provider.label })}
            isMain
          />
        </div>
      ) : null}
      {isLocal(service, session) || provider ? null : <p className="notice mt-4">{t("noWay")}</p>}
      <PasskeyStepUp service={service} session={session} stepUpFor={stepUpFor} to={to} />
      <a className="button-plain mt-3" href={`/signout?callbackUrl=${encodeURIComponent(to)}`}>
        {t("notYou")}
      </a>
    </div>
  );
}
