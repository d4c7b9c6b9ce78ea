import { getTranslations } from "next-intl/server";
import type { Service } from "@/lib/process";
import { csrfToken } from "@/lib/sessions/csrf";
import { describeUserAgent } from "@/lib/sessions/describe-user-agent";
import { type ListedSession, listSessions } from "@/lib/sessions/list";
import type { PersonSession } from "@/lib/sessions/session";
import { instantFormat } from "../instant";
import { endOthersTarget, endTarget } from "./sessions/target";

type Props = { service: Service; session: PersonSession };

/** Where the person is signed in: this session first, and each other one with a button that ends it. */
export async function SessionsSection({ service, session }: Props) {
  const t = await getTranslations("sessions");
  const sessions = await listSessions(service, session.userId, session.sid);
  const csrf = (target: string) => csrfToken(service.secrets, { sid: session.sid, purpose: "account", target });
  return (
    <section className="mt-8" id="sessions" aria-labelledby="sessions-title">
      <h2 className="heading mb-2" id="sessions-title">
        {t("title")}
      </h2>
      <ul className="card">
        {sessions.map((listed) => (
          <Row key={listed.name} listed={listed} csrf={csrf(endTarget(listed.name))} />
        ))}
      </ul>
      {sessions.some(({ isCurrent }) => !isCurrent) ? (
        <form className="mt-1" method="post" action="/account/sessions/end-others">
          <input type="hidden" name="csrf" value={csrf(endOthersTarget)} />
          <button className="button-plain" type="submit">
            {t("endOthers")}
          </button>
        </form>
      ) : null}
    </section>
  );
}

async function Row({ listed, csrf }: { listed: ListedSession; csrf: string }) {
  const t = await getTranslations("sessions");
  const instant = await instantFormat();
  const device = await deviceName(listed.userAgent);
  return (
    <li className="row flex flex-wrap items-center justify-between gap-x-4">
      <div className="min-w-0">
        <span className="block font-bold" id={`session-${listed.name}`}>
          {device} {listed.isCurrent ? <span className="tag">{t("current")}</span> : null}
        </span>
        <span className="text-muted block text-sm break-words">
          {listed.address ? (
            <>
              {t.rich("from", { address: () => <bdi>{listed.address}</bdi> })}
              {" · "}
            </>
          ) : null}
          {t("times", { signedIn: instant(listed.createdAt), seen: instant(listed.lastSeenAt) })}
        </span>
      </div>
      {listed.isCurrent ? null : (
        <form method="post" action={`/account/sessions/${listed.name}/end`}>
          <input type="hidden" name="csrf" value={csrf} />
          <button className="button-plain" type="submit" aria-describedby={`session-${listed.name}`}>
            {t("end")}
          </button>
        </form>
      )}
    </li>
  );
}

async function deviceName(userAgent: string | null): Promise<string> {
  const t = await getTranslations("sessions");
  const { browser, system } = describeUserAgent(userAgent);
  if (browser && system) return t("device", { browser, system });
  return browser ?? system ?? t("unknownDevice");
}
