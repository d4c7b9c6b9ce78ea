import { headers } from "next/headers";
import { getTranslations } from "next-intl/server";
import { statusAt } from "@/lib/approvals/approval";
import { readFlash, stepUpTarget } from "@/lib/requests/flash";
import { isFresh } from "@/lib/sessions/step-up";
import { goTo } from "../../../go-to";
import { PageFrame } from "../../../page-frame";
import { pageTitle } from "../../../page-title";
import { StepUp } from "../../../step-up";
import { openPage } from "../open-page";

type Props = { params: Promise<{ id: string }> };

export const generateMetadata = () => pageTitle("stepUp");

/** The step-up page of an approval: the same account proves anew that its person is there. */
export default async function SignInAgainPage({ params }: Props) {
  const { id } = await params;
  const page = await openPage(id);
  if (page.isMissing) return page.miss;
  const { service, session, opened } = page;
  const { approval, now, record } = opened;
  if (!record || statusAt(approval, now) !== "pending" || isFresh(session, record.requirements, id, now))
    goTo(`/a/${id}`);
  const maxAge = record.requirements.maxAuthAgeSeconds;
  const t = await getTranslations("stepUp");
  const path = `/a/${id}/sign-in-again`;
  return (
    <PageFrame path={path} account={session.account}>
      <StepUp
        service={service}
        session={session}
        stepUpFor={id}
        page={path}
        submitTo={`${path}/submit`}
        to={`/a/${id}`}
        why={maxAge === 0 ? t("whyNow") : t("why", { minutes: Math.max(1, Math.floor(maxAge / 60)) })}
        flash={await readFlash(service, await headers(), { sid: session.sid, target: stepUpTarget(id) })}
      />
    </PageFrame>
  );
}
