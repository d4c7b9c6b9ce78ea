import { headers } from "next/headers";
import { getTranslations } from "next-intl/server";
import { getService } from "@/lib/process";
import { readFlash, stepUpTarget } from "@/lib/requests/flash";
import { samePath } from "@/lib/requests/same-path";
import { stepUpForAccount } from "@/lib/sessions/replace";
import { recentSeconds } from "@/lib/sessions/session";
import { PageFrame } from "../../page-frame";
import { pageTitle } from "../../page-title";
import { requireSession } from "../../session";
import { StepUp } from "../../step-up";
import { signInAgainPath } from "./path";

type Props = { searchParams: Promise<{ to?: string | string[] }> };

export const generateMetadata = () => pageTitle("stepUp");

/** The step-up page of everything that changes an account, or needs an admin to be there: it leads on to the path in `to`. */
export default async function AccountSignInAgainPage({ searchParams }: Props) {
  const { to: wanted } = await searchParams;
  const to = samePath(typeof wanted === "string" ? wanted : "/account");
  const path = signInAgainPath(to);
  const service = getService();
  const session = await requireSession(path);
  const t = await getTranslations("stepUp");
  return (
    <PageFrame path={path} account={session.account}>
      <StepUp
        service={service}
        session={session}
        stepUpFor={stepUpForAccount}
        page={path}
        submitTo="/account/sign-in-again/submit"
        to={to}
        why={t("whyAccount", { minutes: recentSeconds / 60 })}
        flash={await readFlash(service, await headers(), { sid: session.sid, target: stepUpTarget(stepUpForAccount) })}
      />
    </PageFrame>
  );
}
