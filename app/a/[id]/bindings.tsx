import type { Opened } from "@/lib/approvals/open";
import type { Service } from "@/lib/process";
import type { RecordClaims } from "@/lib/records/claims";
import { csrfToken } from "@/lib/sessions/csrf";
import type { PersonSession } from "@/lib/sessions/session";
import { stampOf, viewDigestOf } from "@/lib/views/stamp";
import type { View } from "@/lib/views/view";

type Props = { service: Service; session: PersonSession; opened: Opened; record: RecordClaims; view: View };

/** What binds the form to this session, this approval and this very view (I1, I3). */
export function Bindings({ service, session, opened, record, view }: Props) {
  const { approval, now } = opened;
  const renderedAt = now.getTime();
  const stamp = stampOf(service.secrets, {
    approvalId: approval.id,
    sid: session.sid,
    viewDigest: viewDigestOf(view, record.salt),
    locale: view.locale,
    renderedAt,
  });
  const fields = {
    csrf: csrfToken(service.secrets, { sid: session.sid, purpose: "decide", target: approval.id }),
    stamp,
    locale: view.locale,
    renderedAt: String(renderedAt),
  };
  return (
    <>
      {Object.entries(fields).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
    </>
  );
}
