import { getFormatter, getTranslations } from "next-intl/server";
import { type AuditVerdict, readAudited } from "@/lib/audit/read";
import { getService } from "@/lib/process";
import { miss } from "../../miss";
import { Outside } from "../../outside";
import { PageFrame } from "../../page-frame";
import { pageTitle } from "../../page-title";
import { requireSession } from "../../session";
import { actorOf } from "../actor";

type Props = { params: Promise<{ id: string }> };

export const generateMetadata = () => pageTitle("audit");

/** One approval's history: what happened, by whom, and whether its receipt is genuine. */
export default async function AuditedApprovalPage({ params }: Props) {
  const { id } = await params;
  const session = await requireSession(`/audit/${id}`);
  const audited = await readAudited(getService(), session, id);
  if (!audited) return miss();
  const { approval, status, clientName, events, receipt } = audited;
  const t = await getTranslations("audit");
  const format = await getFormatter();
  const facts: [string, string][] = [
    [t("status"), status],
    [t("tool"), approval.tool],
    [t("client"), `${clientName} (${approval.clientId})`],
    [t("subject"), `${approval.subject.sub} · ${approval.subject.iss}`],
    [t("digest"), approval.actionDigest],
    [t("policyVersion"), String(approval.policyVersion)],
  ];
  const verdictText = ({ verdict, revokedAt }: { verdict: AuditVerdict; revokedAt?: Date }) => {
    const at = revokedAt ? `${revokedAt.toISOString().slice(0, 19)}Z` : "";
    switch (verdict) {
      case "genuine":
        return t("genuine");
      case "row_mismatch":
        return t("rowMismatch");
      case "before_revocation":
        return t("beforeRevocation", { at });
      case "unproven":
        return t("unproven", { at });
      default:
        return t("notGenuine", { reason: verdict });
    }
  };
  return (
    <PageFrame path={`/audit/${id}`} account={session.account} wide nav={session}>
      <p className="text-muted font-mono text-sm break-all">{id}</p>
      <h1 className="text-2xl font-bold">
        <Outside text={approval.title ?? approval.tool} />
      </h1>
      <dl className="card mt-4">
        {facts.map(([label, value]) => (
          <div className="row sm:grid sm:grid-cols-[12rem_1fr] sm:gap-4" key={label}>
            <dt className="label">{label}</dt>
            <dd className="min-w-0 break-all">
              <Outside text={value} />
            </dd>
          </div>
        ))}
        <div className="row sm:grid sm:grid-cols-[12rem_1fr] sm:gap-4">
          <dt className="label">{t("argumentNames")}</dt>
          <dd className="min-w-0 font-mono">
            {approval.argumentNames.length === 0 ? "–" : null}
            {approval.argumentNames.map((name) => (
              <p key={name}>
                <Outside text={name} />
              </p>
            ))}
          </dd>
        </div>
      </dl>
      <h2 className="heading mt-6 mb-2">{t("history")}</h2>
      <ol className="card">
        {events.map((event) => (
          <li className="row" key={String(event.seq)}>
            <div className="flex flex-wrap justify-between gap-x-4">
              <span className="font-mono text-sm">{event.type}</span>
              <time className="text-muted text-sm" dateTime={event.at.toISOString()}>
                {format.dateTime(event.at, { dateStyle: "medium", timeStyle: "medium", timeZone: "UTC" })} UTC
              </time>
            </div>
            <p className="text-muted text-sm break-words">
              {[actorOf(event.actor), event.decision, event.reason].filter(Boolean).join(" · ")}
            </p>
            {event.metadata ? (
              <p className="font-mono text-sm">
                <Outside text={JSON.stringify(event.metadata)} />
              </p>
            ) : null}
          </li>
        ))}
      </ol>
      <h2 className="heading mt-6 mb-2">{t("receipt")}</h2>
      <div className="card">
        <p className={`row font-semibold ${receipt && !reliable.has(receipt.verdict) ? "text-danger" : ""}`}>
          {receipt ? verdictText(receipt) : t("noReceipt")}
        </p>
        {receipt ? (
          <details className="row">
            <summary className="label">{t("showReceipt")}</summary>
            <p className="mt-2 font-mono text-xs break-all">{receipt.text}</p>
          </details>
        ) : null}
      </div>
    </PageFrame>
  );
}

const reliable = new Set<AuditVerdict>(["genuine", "before_revocation"]);
