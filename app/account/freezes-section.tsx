import { getTranslations } from "next-intl/server";
import { listOwnFreezes, type PersonFreeze } from "@/lib/clients/list-freezes";
import { readClock } from "@/lib/database/clock";
import type { Service } from "@/lib/process";
import { csrfToken } from "@/lib/sessions/csrf";
import { isRecent, type PersonSession } from "@/lib/sessions/session";
import { instantFormat } from "../instant";
import { Outside } from "../outside";
import { freezeTarget, signInAgain } from "./freezes/target";

type Props = { service: Service; session: PersonSession };

/** Who may ask this person for nothing, since they said that they did not ask, and how to let them ask again. Nothing where there is none. */
export async function FreezesSection({ service, session }: Props) {
  const freezes = await listOwnFreezes(service, session);
  if (freezes.length === 0) return null;
  const t = await getTranslations("freezes");
  const mayLift = isRecent(session, await readClock(service.pool));
  const csrf = ({ freezeId }: PersonFreeze) =>
    csrfToken(service.secrets, { sid: session.sid, purpose: "account", target: freezeTarget(freezeId) });
  return (
    <section className="mt-8" id="freezes" aria-labelledby="freezes-title">
      <h2 className="heading mb-2" id="freezes-title">
        {t("title")}
      </h2>
      <div className="card">
        <p className="row text-muted text-sm">{t("what")}</p>
        <ul className="divide-line divide-y">
          {freezes.map((freeze) => (
            <Row
              key={freeze.freezeId}
              freeze={freeze}
              csrf={mayLift ? csrf(freeze) : undefined}
              isOwnIdentity={freeze.subject.iss === session.iss && freeze.subject.sub === session.sub}
            />
          ))}
        </ul>
        {mayLift ? null : (
          <div className="row">
            <a className="button" href={signInAgain}>
              {t("signIn")}
            </a>
          </div>
        )}
      </div>
    </section>
  );
}

type RowProps = { freeze: PersonFreeze; csrf: string | undefined; isOwnIdentity: boolean };

async function Row({ freeze, csrf, isOwnIdentity }: RowProps) {
  const t = await getTranslations("freezes");
  const instant = await instantFormat();
  const { iss, sub } = freeze.subject;
  return (
    <li className="row flex flex-wrap items-center justify-between gap-x-4">
      <div className="min-w-0">
        <strong className="block" id={freeze.freezeId}>
          <Outside text={freeze.clientName} />
        </strong>
        <span className="text-muted block text-sm">{t("until", { until: instant(freeze.until) })}</span>
        {isOwnIdentity ? null : (
          <span className="text-muted block text-sm">
            {t.rich("forIdentity", { sub: () => <Outside text={sub} />, iss: () => <Outside text={iss} /> })}
          </span>
        )}
      </div>
      {csrf ? (
        <form method="post" action={`/account/freezes/${freeze.freezeId}/lift`}>
          <input type="hidden" name="csrf" value={csrf} />
          <button className="button-plain" type="submit" aria-describedby={freeze.freezeId}>
            {t("lift")}
          </button>
        </form>
      ) : null}
    </li>
  );
}
