import { getTranslations } from "next-intl/server";
import { readPasskeys } from "@/lib/passkeys/passkey";
import type { Service } from "@/lib/process";
import { csrfToken } from "@/lib/sessions/csrf";
import type { PersonSession } from "@/lib/sessions/session";
import { PasskeyStepUpButton } from "./passkey-step-up-button";

type Props = {
  service: Service;
  session: PersonSession;
  /** An approval's id, or `stepUpForAccount`. */
  stepUpFor: string;
  /** A path of ours to go on to. */
  to: string;
};

/** The way to prove anew who one is by a passkey; nothing for an identity that has none. */
export async function PasskeyStepUp({ service, session, stepUpFor, to }: Props) {
  const passkeys = await readPasskeys(service.prisma, service.secrets, session);
  if (passkeys.length === 0) return null;
  const t = await getTranslations("passkeys");
  const csrf = csrfToken(service.secrets, { sid: session.sid, purpose: "step_up", target: stepUpFor });
  const texts = {
    use: t("use"),
    waiting: t("waiting"),
    failed: t("useFailed"),
    unsupported: t("unsupported"),
  };
  return (
    <div className="mt-4">
      <PasskeyStepUpButton csrf={csrf} stepUpFor={stepUpFor} to={to} texts={texts} />
      <noscript>
        <p className="text-muted mt-2 text-sm">{t("noScript")}</p>
      </noscript>
    </div>
  );
}
