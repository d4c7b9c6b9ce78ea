import { headers } from "next/headers";
import { getLocale, getTranslations } from "next-intl/server";
import { statusAt } from "@/lib/approvals/approval";
import { type Notice, readFlash } from "@/lib/requests/flash";
import { isFresh } from "@/lib/sessions/step-up";
import { buildView } from "@/lib/views/build";
import { goTo } from "../../go-to";
import { PageFrame } from "../../page-frame";
import { pageTitle } from "../../page-title";
import { Action } from "./action";
import { DecisionForm } from "./decision-form";
import { Ending } from "./ending";
import { openPage } from "./open-page";

type Props = { params: Promise<{ id: string }> };

export const generateMetadata = () => pageTitle("approval");

/** Session, then id, record and subject (one 404 for every miss), then state, then freshness (section 10). Changes nothing (I7). */
export default async function ApprovalPage({ params }: Props) {
  const { id } = await params;
  const page = await openPage(id);
  if (page.isMissing) return page.miss;
  const { service, session, opened } = page;
  const { approval, now, record } = opened;
  const isPending = statusAt(approval, now) === "pending";
  if (isPending && record && !isFresh(session, record.requirements, id, now)) goTo(`/a/${id}/sign-in-again`);
  const flash = await readFlash(service, await headers(), { sid: session.sid, target: id });
  const notice =
    flash && (flash.notice === "stale_form" || aboutTheEnd.has(flash.notice) !== isPending) ? flash.notice : undefined;
  const t = await getTranslations("notices");
  const view = record && buildView(record, (await getLocale()) === "ja" ? "ja" : "en");
  return (
    <PageFrame path={`/a/${id}`} account={session.account}>
      {notice ? (
        <p className={`notice mb-3 ${notice === "lifted" ? "notice-good" : ""}`} role="alert">
          {t(notice)}
        </p>
      ) : null}
      {isPending ? null : <Ending service={service} session={session} opened={opened} />}
      {view ? <Action view={view} isPending={isPending} /> : null}
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

/** The others say that nothing was decided, which would be false once something is. */
const aboutTheEnd = new Set<Notice>(["already_decided", "too_late", "lifted"]);
