import type { ReactNode } from "react";
import { type Opened, openForPerson } from "@/lib/approvals/open";
import { getService, type Service } from "@/lib/process";
import type { PersonSession } from "@/lib/sessions/session";
import { requireSession } from "../../session";
import { notTheirs } from "./not-theirs";

type OpenedPage =
  | { isMissing: true; miss: ReactNode }
  | { isMissing: false; service: Service; session: PersonSession; opened: Opened };

/** What every page of an approval begins with: the session, then id, record and subject, with one page for every miss (I2). */
export async function openPage(id: string): Promise<OpenedPage> {
  const service = getService();
  const session = await requireSession(`/a/${id}`);
  const opened = await openForPerson(service, session, id);
  return opened
    ? { isMissing: false, service, session, opened }
    : { isMissing: true, miss: notTheirs(service, session, id) };
}
