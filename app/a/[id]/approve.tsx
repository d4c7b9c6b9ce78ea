import { getTranslations } from "next-intl/server";
import { usablePasskeys } from "@/lib/approvals/ask-passkey";
import type { Service } from "@/lib/process";
import type { RecordClaims } from "@/lib/records/claims";
import type { PersonSession } from "@/lib/sessions/session";
import { ApproveWithPasskey } from "./approve-with-passkey";

/** `ready`: one of the person's passkeys may approve this; `missing`: none may. Undefined where none is needed. */
export type PasskeyState = "ready" | "missing" | undefined;

export async function passkeyOf(service: Service, session: PersonSession, record: RecordClaims): Promise<PasskeyState> {
  if (record.requirements.passkey !== "required") return undefined;
  return (await usablePasskeys(service, session, record)).length > 0 ? "ready" : "missing";
}

export async function Approve({ passkey, challengePath }: { passkey: PasskeyState; challengePath: string }) {
  const t = await getTranslations("approval");
  if (passkey === "missing")
    return (
      <button className="button button-accent" type="button" disabled>
        {t("approve")}
      </button>
    );
  if (passkey === "ready") {
    const texts = { approve: t("approve"), waiting: t("passkeyWaiting"), failed: t("passkeyFailed") };
    return <ApproveWithPasskey challengePath={challengePath} texts={texts} />;
  }
  return (
    <button className="button button-accent" type="submit" name="decision" value="accept">
      {t("approve")}
    </button>
  );
}

export async function PasskeyHint({ state }: { state: "ready" | "missing" }) {
  const t = await getTranslations("approval");
  if (state === "ready")
    return (
      <>
        <p>{t("passkeyNeeded")}</p>
        <noscript className="block">
          <p className="notice">{t("passkeyNoScript")}</p>
        </noscript>
      </>
    );
  return (
    <div className="notice">
      <p>{t("passkeyNone")}</p>
      <a className="button-plain" href="/account">
        {t("passkeyRegister")}
      </a>
    </div>
  );
}
