import { getTranslations } from "next-intl/server";
import { usablePasskeys } from "@/lib/approvals/ask-passkey";
import { noteMaxCharacters } from "@/lib/approvals/decision-form";
import type { Opened } from "@/lib/approvals/open";
import type { Service } from "@/lib/process";
import type { RecordClaims } from "@/lib/records/claims";
import { csrfToken } from "@/lib/sessions/csrf";
import type { PersonSession } from "@/lib/sessions/session";
import { stampOf, viewDigestOf } from "@/lib/views/stamp";
import type { View } from "@/lib/views/view";
import { ApproveWithPasskey } from "./approve-with-passkey";
import { TimeLeft } from "./time-left";

type Props = {
  service: Service;
  session: PersonSession;
  opened: Opened;
  record: RecordClaims;
  view: View;
  note: string;
};

/** The end of the page: a person who reaches the buttons has passed the whole action. */
export async function DecisionForm({ service, session, opened, record, view, note }: Props) {
  const t = await getTranslations("approval");
  const { approval, now } = opened;
  const needsCode = record.requirements.matchCode;
  const passkey = await passkeyOf(service, session, record);
  return (
    <form className="card mt-6" method="post" action={`/a/${approval.id}/decision`}>
      <div className="space-y-4 p-4 sm:p-5">
        <Bindings service={service} session={session} opened={opened} view={view} />
        {/* What Enter in a field presses: it decides nothing. */}
        <button className="sr-only" type="submit" tabIndex={-1} aria-hidden="true" formNoValidate>
          {t("choose")}
        </button>
        <TimeLeft now={now} expiresAt={approval.expiresAt} />
        {needsCode ? (
          <label className="flex items-center justify-between gap-4">
            <span>
              {t("code")}
              <span className="label block">{t("codeHint")}</span>
            </span>
            <input
              className="input max-w-28 text-center text-2xl tracking-[0.3em]"
              name="code"
              inputMode="numeric"
              autoComplete="off"
              maxLength={4}
              aria-label={t("code")}
            />
          </label>
        ) : null}
        {needsCode || passkey ? null : (
          <label className="flex min-h-11 items-center gap-3">
            <input className="accent-accent size-6 shrink-0" type="checkbox" name="read" value="yes" required />
            <span>{t("read")}</span>
          </label>
        )}
        <label className="block">
          <span className="label">{t("note")}</span>
          <textarea className="input mt-1" name="note" rows={2} maxLength={noteMaxCharacters} defaultValue={note} />
          <span className="label block">{t("noteHint")}</span>
        </label>
        {passkey ? <PasskeyHint state={passkey} /> : null}
        <div className="grid grid-cols-2 gap-3">
          <button className="button" type="submit" name="decision" value="decline" formNoValidate>
            {t("decline")}
          </button>
          <Approve passkey={passkey} challengePath={`/a/${approval.id}/challenge`} />
        </div>
        <div className="border-line grid gap-x-6 gap-y-1 border-t pt-2 text-sm sm:grid-cols-[1fr_auto] sm:items-start">
          <div>
            <button
              className="button-plain"
              type="submit"
              name="decision"
              value="cancel"
              formNoValidate
              aria-describedby="close-hint"
            >
              {t("close")}
            </button>
            <span className="label block max-w-60" id="close-hint">
              {t("closeHint")}
            </span>
          </div>
          <a className="button-plain" href={`/a/${approval.id}/not-requested`}>
            {t("notRequested")}
          </a>
        </div>
      </div>
    </form>
  );
}

/** `ready`: one of the person's passkeys may approve this; `missing`: none may. Undefined where none is needed. */
type PasskeyState = "ready" | "missing" | undefined;

async function passkeyOf(service: Service, session: PersonSession, record: RecordClaims): Promise<PasskeyState> {
  if (record.requirements.passkey !== "required") return undefined;
  return (await usablePasskeys(service, session, record)).length > 0 ? "ready" : "missing";
}

async function Approve({ passkey, challengePath }: { passkey: PasskeyState; challengePath: string }) {
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

async function PasskeyHint({ state }: { state: "ready" | "missing" }) {
  const t = await getTranslations("approval");
  if (state === "ready")
    return (
      <>
        <p>{t("passkeyNeeded")}</p>
        <noscript>
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

type BindingProps = { service: Service; session: PersonSession; opened: Opened; view: View };

/** What binds the form to this session, this approval and this very view (I1, I3). */
export function Bindings({ service, session, opened, view }: BindingProps) {
  const { approval, now } = opened;
  const renderedAt = now.getTime();
  const stamp = stampOf(service.secrets, {
    approvalId: approval.id,
    sid: session.sid,
    viewDigest: viewDigestOf(view),
    locale: view.locale,
    renderedAt,
  });
  const fields = {
    csrf: csrfToken(service.secrets, { sid: session.sid, purpose: "decide", target: approval.id }),
    stamp,
    locale: view.locale,
    renderedAt: String(renderedAt),
  };
  return (
    <>
      {Object.entries(fields).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
    </>
  );
}
