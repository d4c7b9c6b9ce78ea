import { getTranslations } from "next-intl/server";
import { noteMaxCharacters } from "@/lib/approvals/decision-form";
import type { Opened } from "@/lib/approvals/open";
import type { Service } from "@/lib/process";
import type { RecordClaims } from "@/lib/records/claims";
import type { PersonSession } from "@/lib/sessions/session";
import type { View } from "@/lib/views/view";
import { Approve, PasskeyHint, passkeyOf } from "./approve";
import { Bindings } from "./bindings";
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
        <Bindings service={service} session={session} opened={opened} record={record} view={view} />
        {/* What Enter in a field presses: it decides nothing. */}
        <button className="sr-only" type="submit" tabIndex={-1} aria-hidden="true" formNoValidate>
          {t("choose")}
        </button>
        <TimeLeft now={now} expiresAt={approval.expiresAt} />
        {needsCode ? <CodeField isRequired={passkey === "ready"} /> : null}
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
        <SmallChoices id={approval.id} />
      </div>
    </form>
  );
}

async function CodeField({ isRequired }: { isRequired: boolean }) {
  const t = await getTranslations("approval");
  return (
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
        required={isRequired}
        aria-label={t("code")}
      />
    </label>
  );
}

/** Ends the request without saying yes or no, or says that it was never asked for. */
async function SmallChoices({ id }: { id: string }) {
  const t = await getTranslations("approval");
  return (
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
      <a className="button-plain" href={`/a/${id}/not-requested`}>
        {t("notRequested")}
      </a>
    </div>
  );
}
