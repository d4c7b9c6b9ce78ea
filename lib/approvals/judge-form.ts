import type { Service } from "../process";
import type { RecordClaims } from "../records/claims";
import type { PersonSession } from "../sessions/session";
import { isFresh } from "../sessions/step-up";
import { buildView } from "../views/build";
import { isStamp, viewDigestOf } from "../views/stamp";
import { statusAt } from "./approval";
import type { DecisionForm } from "./decision-form";
import type { Opened } from "./open";

/** What a form of the page has to be, whatever was pressed on it. */
export type FormVerdict =
  | { kind: "good"; record: RecordClaims; viewDigest: string }
  | { kind: "ended" }
  | { kind: "step_up" }
  | { kind: "view_changed" };

/**
 * Judges the page that a form was on, in this order: the state of the approval, the freshness of the sign-in (by the database's clock, at
 * this very moment), and that what it showed to this session is what the record says now (I3).
 */
export function judgeForm(service: Service, session: PersonSession, opened: Opened, form: DecisionForm): FormVerdict {
  const { approval, now, record } = opened;
  if (statusAt(approval, now) !== "pending" || !record) return { kind: "ended" };
  if (!isFresh(session, record.requirements, approval.id, now)) return { kind: "step_up" };
  const viewDigest = viewDigestOf(buildView(record, form.locale), record.salt);
  const { locale, renderedAt } = form;
  const rendering = { approvalId: approval.id, sid: session.sid, viewDigest, locale, renderedAt };
  return isStamp(service.secrets, rendering, form.stamp)
    ? { kind: "good", record, viewDigest }
    : { kind: "view_changed" };
}
