import { type DecisionResult, decide } from "@/lib/approvals/decide";
import type { Choice, DecisionForm } from "@/lib/approvals/decision-form";
import type { Locale } from "@/lib/approvals/mint-request";
import { openForPerson } from "@/lib/approvals/open";
import type { Service } from "@/lib/process";
import { csrfToken } from "@/lib/sessions/csrf";
import type { PersonSession } from "@/lib/sessions/session";
import { buildView } from "@/lib/views/build";
import { stampOf, viewDigestOf } from "@/lib/views/stamp";

/** The digest of what the page shows to this session. */
export async function viewDigestFor(
  service: Service,
  session: PersonSession,
  approvalId: string,
  locale: Locale = "en",
): Promise<string> {
  const opened = await openForPerson(service, session, approvalId);
  if (!opened?.record) throw new Error("the page would not show this approval");
  return viewDigestOf(buildView(opened.record, locale), opened.record.salt);
}

/** The form as the page would have rendered it for this session two seconds ago, filled in. */
export async function formFor(
  service: Service,
  session: PersonSession,
  approvalId: string,
  choice: Choice,
  change: Partial<DecisionForm> = {},
  locale: Locale = "en",
): Promise<DecisionForm> {
  const viewDigest = await viewDigestFor(service, session, approvalId, locale);
  const { rows } = await service.pool.query<{ now: Date }>("SELECT clock_timestamp() AS now");
  const renderedAt = (rows[0]?.now.getTime() ?? 0) - 2_000;
  return {
    choice,
    csrf: csrfToken(service.secrets, { sid: session.sid, purpose: "decide", target: approvalId }),
    stamp: stampOf(service.secrets, { approvalId, sid: session.sid, viewDigest, locale, renderedAt }),
    locale,
    renderedAt,
    code: "",
    hasRead: true,
    note: "",
    passkeyAnswer: "",
    ...change,
  };
}

/** Decides as the person of the session would on the page. */
export async function decideAs(
  service: Service,
  session: PersonSession,
  approvalId: string,
  choice: Choice,
  change: Partial<DecisionForm> = {},
): Promise<DecisionResult> {
  return decide(service, session, approvalId, await formFor(service, session, approvalId, choice, change));
}
