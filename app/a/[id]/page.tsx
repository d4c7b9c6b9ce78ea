import { headers } from "next/headers";
import { getLocale, getTranslations } from "next-intl/server";
import { statusAt } from "@/lib/approvals/approval";
import { openForPerson } from "@/lib/approvals/open";
import { getService } from "@/lib/process";
import { readFlash } from "@/lib/requests/flash";
import { isFresh } from "@/lib/sessions/step-up";
import { buildView } from "@/lib/views/build";
import { goTo } from "../../go-to";
import { miss } from "../../miss";
import { PageFrame } from "../../page-frame";
import { requireSession } from "../../session";
import { Action } from "./action";
import { DecisionForm } from "./decision-form";
import { Ending } from "./ending";

type Props = { params: Promise<{ id: string }> };

/** Session, then id, record and subject (one 404 for every miss), then state, then freshness (section 10). Changes nothing (I7). */
export default async function ApprovalPage({ params }: Props) {
  const { id } = await params;
  const service = getService();
  const session = await requireSession(`/a/${id}`);
  const opened = await openForPerson(service, session, id);
  if (!opened) return miss();
  const { approval, now, record } = opened;
  const isPending = statusAt(approval, now) === "pending";
  if (isPending && record && !isFresh(session, record.requirements.maxAuthAgeSeconds, id, now))
    goTo(`/a/${id}/sign-in-again`);
  const flash = await readFlash(service, await headers(), { sid: session.sid, target: id });
  const t = await getTranslations("notices");
  const view = record && buildView(record, (await getLocale()) === "ja" ? "ja" : "en");
  return (
    <PageFrame path={`/a/${id}`} email={session.email}>
      {flash ? (
        <p className="notice mb-3" role="alert">
          {t(flash.notice)}
        </p>
      ) : null}
      {isPending ? null : <Ending service={service} session={session} opened={opened} />}
      {view ? <Action view={view} /> : null}
      {isPending && record && view ? (
        <DecisionForm
          service={service}
          session={session}
          opened={opened}
          record={record}
          view={view}
          note={flash?.note ?? ""}
        />
      ) : null}
    </PageFrame>
  );
}
