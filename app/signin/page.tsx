import { getTranslations } from "next-intl/server";
import { getService } from "@/lib/process";
import { ownPath } from "@/lib/requests/own-path";
import { signInErrorOf } from "@/lib/requests/sign-in-page";
import { goTo } from "../go-to";
import { readNextAuthToken } from "../next-auth-token";
import { PageFrame } from "../page-frame";
import { pageTitle } from "../page-title";
import { PasswordForm } from "../password-form";
import { ProviderForm } from "../provider-form";
import { PasskeySignIn } from "./passkey-sign-in";

type Query = Record<"callbackUrl" | "error" | "seconds" | "token", string | string[] | undefined>;
type Search = { searchParams: Promise<Query> };

export const generateMetadata = () => pageTitle("signin");

/** All ways to sign in: a local account, a passkey, the configured providers. Plain forms: they work without JavaScript. */
export default async function SignIn({ searchParams }: Search) {
  const { callbackUrl, error, seconds, token } = await searchParams;
  const t = await getTranslations("signin");
  const to = ownPath(getService().config.url, callbackUrl);
  const csrfToken = await readNextAuthToken();
  // next-auth sets its token on its own route only, and leads back here: once, for a browser without cookies would go round for ever.
  if (!csrfToken && token === undefined) goTo(tokenPath(to, error, seconds));
  return (
    <PageFrame path={`/signin?callbackUrl=${encodeURIComponent(to)}`}>
      <div className="mx-auto mt-6 max-w-md">
        <h1 className="text-2xl font-bold">{t("title")}</h1>
        <p className="text-muted mt-1">{to.startsWith("/a/") ? t("forApproval") : t("forInbox")}</p>
        {typeof error === "string" || !csrfToken ? (
          <p className="notice mt-4" role="alert">
            {csrfToken ? t(`errors.${signInErrorOf(String(error))}`, { seconds: secondsOf(seconds) }) : t("cookies")}
          </p>
        ) : null}
        {csrfToken ? <Ways csrfToken={csrfToken} to={to} /> : null}
      </div>
    </PageFrame>
  );
}

async function Ways({ csrfToken, to }: { csrfToken: string; to: string }) {
  const t = await getTranslations("signin");
  const { oidcProviders } = getService().config;
  return (
    <>
      {oidcProviders.length > 0 ? (
        <div className="mt-5 space-y-3">
          {oidcProviders.map((provider) => (
            <ProviderForm
              key={provider.id}
              provider={provider}
              csrfToken={csrfToken}
              fields={{ callbackUrl: to }}
              label={t("with", { label: provider.label })}
            />
          ))}
        </div>
      ) : null}
      <PasswordForm action="/api/auth/callback/credentials" fields={{ csrfToken, callbackUrl: to }} />
      <div className="mt-5">
        <PasskeySignIn csrfToken={csrfToken} callbackUrl={to} />
      </div>
    </>
  );
}

/** Through next-auth's route, and back to this very page. */
function tokenPath(to: string, error: string | string[] | undefined, seconds: string | string[] | undefined): string {
  const back = new URLSearchParams({ callbackUrl: to, token: "set" });
  if (typeof error === "string") back.set("error", error);
  if (typeof seconds === "string") back.set("seconds", seconds);
  return `/api/auth/csrf?callbackUrl=${encodeURIComponent(`/signin?${back}`)}`;
}

const secondsOf = (text: string | string[] | undefined) =>
  typeof text === "string" && /^\d{1,6}$/.test(text) ? Math.max(1, Number(text)) : 1;
