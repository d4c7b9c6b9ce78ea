import { getTranslations } from "next-intl/server";
import { type AuditedApproval, readAudited } from "@/lib/audit/read";
import { getService } from "@/lib/process";
import { Facts } from "../../facts";
import { miss } from "../../miss";
import { Outside } from "../../outside";
import { PageFrame } from "../../page-frame";
import { pageTitle } from "../../page-title";
import { requireSession } from "../../session";
import { History } from "./history";
import { Receipt } from "./receipt";

type Props = { params: Promise<{ id: string }> };

export const generateMetadata = () => pageTitle("audit");

/** One approval's history: what happened, by whom, and whether its receipt is genuine. */
export default async function AuditedApprovalPage({ params }: Props) {
  const { id } = await params;
  const session = await requireSession(`/audit/${id}`);
  const audited = await readAudited(getService(), session, id);
  if (!audited) return miss();
  const { approval, events, receipt } = audited;
  return (
    <PageFrame path={`/audit/${id}`} account={session.account} wide nav={session}>
      <p className="text-muted font-mono text-sm break-all">{id}</p>
      <h1 className="text-2xl font-bold">
        <Outside text={approval.title ?? approval.tool} />
      </h1>
      <ApprovalFacts audited={audited} />
      <History events={events} />
      <Receipt receipt={receipt} />
    </PageFrame>
  );
}

async function ApprovalFacts({ audited }: { audited: AuditedApproval }) {
  const t = await getTranslations("audit");
  const { approval, status, clientName } = audited;
  const texts: [string, string][] = [
    [t("status"), status],
    [t("tool"), approval.tool],
    [t("client"), `${clientName} (${approval.clientId})`],
    [t("subject"), `${approval.subject.sub} · ${approval.subject.iss}`],
    [t("digest"), approval.actionDigest],
    [t("policyVersion"), String(approval.policyVersion)],
  ];
  const names = approval.argumentNames.map((name) => (
    <p className="font-mono" key={name}>
      <Outside text={name} />
    </p>
  ));
  return (
    <Facts
      facts={[
        ...texts.map(([label, text]): [string, React.ReactNode] => [label, <Outside text={text} key={label} />]),
        [t("argumentNames"), names.length === 0 ? "–" : names],
      ]}
    />
  );
}
