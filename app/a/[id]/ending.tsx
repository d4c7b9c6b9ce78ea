import { getTranslations } from "next-intl/server";
import { type Approval, isLapsed, statusAt } from "@/lib/approvals/approval";
import { cooldownUntil } from "@/lib/approvals/lift-cooldown";
import type { Opened } from "@/lib/approvals/open";
import { listPersonFreezes } from "@/lib/clients/list-freezes";
import type { Service } from "@/lib/process";
import { csrfToken } from "@/lib/sessions/csrf";
import type { PersonSession } from "@/lib/sessions/session";
import { freezesPlace } from "../../account/freezes/target";
import { Instant, instantFormat } from "../../instant";
import { Outside } from "../../outside";

type Props = { service: Service; session: PersonSession; opened: Opened };

/** How it ended, what the agent was told, what happened when it ran, and what the person can still do. */
export async function Ending({ service, session, opened }: Props) {
  const { approval, now } = opened;
  const t = await getTranslations("ending");
  const instant = await instantFormat("seconds");
  const kind = endingOf(approval, now);
  const isGood = kind === "accepted" || kind === "running" || kind === "succeeded";
  const at =
    "decidedAt" in approval && approval.decidedAt
      ? approval.decidedAt
      : "settledAt" in approval && approval.settledAt
        ? approval.settledAt
        : approval.expiresAt;
  return (
    <section className="card mb-6" aria-label={t("label")}>
      <div className={`row ${isGood ? "bg-good-ground text-good" : "bg-note"}`}>
        <p className="text-lg font-bold">{t(`${kind}.title`)}</p>
        <p className="text-sm">
          <Instant at={at} precision="seconds" />
        </p>
      </div>
      <p className="row">{t(`${kind}.what`)}</p>
      {approval.note ? (
        <p className="row">
          <span className="label block">{t("note")}</span>
          <Outside text={approval.note} />
        </p>
      ) : null}
      {opened.record ? null : (
        <p className="row text-muted">
          {t.rich(approval.erasedAt ? "erased" : "unshown", {
            title: () => <Outside text={approval.title ?? approval.tool} />,
          })}
        </p>
      )}
      {kind === "accepted" ? (
        <TakeBack service={service} session={session} id={approval.id} until={instant(actByOf(approval))} />
      ) : null}
      {kind === "notRequested" || kind === "frozen" ? (
        <Frozen service={service} opened={opened} instant={instant} />
      ) : null}
      {approval.status === "declined" && !opened.isFrozen ? (
        <Cooldown service={service} session={session} id={approval.id} instant={instant} />
      ) : null}
    </section>
  );
}

async function TakeBack({
  service,
  session,
  id,
  until,
}: {
  service: Service;
  session: PersonSession;
  id: string;
  until: string;
}) {
  const t = await getTranslations("ending");
  return (
    <form className="row" method="post" action={`/a/${id}/take-back`}>
      <input
        type="hidden"
        name="csrf"
        value={csrfToken(service.secrets, { sid: session.sid, purpose: "take_back", target: id })}
      />
      <p className="text-muted mb-3 text-sm">{t("actBy", { until })}</p>
      <button className="button w-full sm:w-auto" type="submit">
        {t("takeBack")}
      </button>
    </form>
  );
}

type FrozenProps = { service: Service; opened: Opened; instant: (at: Date) => string };

/** That this client may ask the person for nothing, while they have not changed that. */
async function Frozen({ service, opened, instant }: FrozenProps) {
  const { clientId, subject } = opened.approval;
  const [freeze] = await listPersonFreezes(service.pool, { clientId, subjects: [subject] });
  if (!freeze) return null;
  const t = await getTranslations("freezes");
  return (
    <div className="row">
      <p>
        {t.rich("stops", {
          client: () => (
            <strong>
              <Outside text={freeze.clientName} />
            </strong>
          ),
          until: instant(freeze.until),
        })}
      </p>
      <a className="button-plain" href={freezesPlace}>
        {t("change")}
      </a>
    </div>
  );
}

async function Cooldown({
  service,
  session,
  id,
  instant,
}: {
  service: Service;
  session: PersonSession;
  id: string;
  instant: (at: Date) => string;
}) {
  const until = await cooldownUntil(service, id);
  if (!until) return null;
  const t = await getTranslations("ending");
  return (
    <form className="row" method="post" action={`/a/${id}/lift-cooldown`}>
      <input
        type="hidden"
        name="csrf"
        value={csrfToken(service.secrets, { sid: session.sid, purpose: "lift_cooldown", target: id })}
      />
      <p className="text-muted mb-3 text-sm">{t("cooldown", { until: instant(until) })}</p>
      <button className="button w-full sm:w-auto" type="submit">
        {t("lift")}
      </button>
    </form>
  );
}

const actByOf = (approval: Approval) => (approval.status === "accepted" ? approval.actBy : approval.expiresAt);

type EndingKind =
  | "accepted"
  | "lapsed"
  | "running"
  | "succeeded"
  | "failed"
  | "unknown"
  | "declined"
  | "notRequested"
  | "cancelled"
  | "expired"
  | "withdrawn"
  | "takenBack"
  | "matchFailed"
  | "frozen"
  | "keyRevoked";

function endingOf(approval: Approval, now: Date): EndingKind {
  switch (approval.status) {
    case "accepted":
      if (approval.consumption.at !== null) return approval.consumption.outcome?.value ?? "running";
      return isLapsed(approval, now) ? "lapsed" : "accepted";
    case "declined":
      return approval.reason === "not_requested" ? "notRequested" : "declined";
    case "withdrawn":
      return withdrawnKinds[approval.reason] ?? "withdrawn";
    case "pending":
    case "expired":
    case "cancelled":
      return statusAt(approval, now) === "cancelled" ? "cancelled" : "expired";
    default:
      return approval satisfies never;
  }
}

const withdrawnKinds: Partial<Record<string, EndingKind>> = {
  taken_back: "takenBack",
  match_failed: "matchFailed",
  frozen: "frozen",
  key_revoked: "keyRevoked",
};
