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
        <PasswordForm account={session.account} csrf={csrf} submitTo={submitTo} to={to} />
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

async function PasswordForm(props: { account: string; csrf: string; submitTo: string; to: string }) {
  const { account, csrf, submitTo, to } = props;
  const t = await getTranslations("stepUp");
  return (
    <form className="card mt-5" method="post" action={submitTo}>
      <div className="space-y-4 p-5">
        <input type="hidden" name="csrf" value={csrf} />
        <input type="hidden" name="to" value={to} />
        <label className="block">
          <span className="label">{t("email")}</span>
          <input className="input mt-1" type="email" autoComplete="username" value={account} readOnly />
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
  );
}
