import { getTranslations } from "next-intl/server";
import type { ReactNode } from "react";
import { lookUpForPerson, type Opened } from "@/lib/approvals/open";
import { getService, type Service } from "@/lib/process";
import type { PersonSession } from "@/lib/sessions/session";
import { PageFrame } from "../../page-frame";
import { requireSession } from "../../session";
import { notTheirs } from "./not-theirs";

type OpenedPage =
  | { isMissing: true; miss: ReactNode }
  | { isMissing: false; service: Service; session: PersonSession; opened: Opened };

/**
 * What every page of an approval begins with: the session, then id, record and subject, with one page for every miss (I2), and one for
 * what is theirs and was signed with a key that was revoked since, which shows nothing of it.
 */
export async function openPage(id: string): Promise<OpenedPage> {
  const service = getService();
  const session = await requireSession(`/a/${id}`);
  const found = await lookUpForPerson(service, session, id);
  if (found.kind === "opened") return { isMissing: false, service, session, opened: found.opened };
  const miss =
    found.kind === "missing" ? notTheirs(service, session, id) : <Unproven id={id} account={session.account} />;
  return { isMissing: true, miss };
}

async function Unproven({ id, account }: { id: string; account: string }) {
  const t = await getTranslations("ending");
  return (
    <PageFrame path={`/a/${id}`} account={account}>
      <section className="card mb-6" aria-label={t("label")}>
        <div className="row bg-note">
          <p className="text-lg font-bold">{t("unproven.title")}</p>
        </div>
        <p className="row">{t("unproven.what")}</p>
      </section>
    </PageFrame>
  );
}
