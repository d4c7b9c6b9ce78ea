import { getTranslations } from "next-intl/server";
import { PasskeyButton } from "./passkey-button";

/** The way to sign in with a passkey, of a local account or of one at a provider alike. `csrfToken` is next-auth's own. */
export async function PasskeySignIn({ csrfToken, callbackUrl }: { csrfToken: string; callbackUrl: string }) {
  const t = await getTranslations("passkeys");
  const texts = {
    use: t("signIn"),
    waiting: t("waiting"),
    failed: t("signInFailed"),
    unsupported: t("unsupported"),
  };
  return (
    <>
      <PasskeyButton csrfToken={csrfToken} callbackUrl={callbackUrl} texts={texts} />
      <noscript>
        <p className="text-muted mt-2 text-sm">{t("noScript")}</p>
      </noscript>
    </>
  );
}
