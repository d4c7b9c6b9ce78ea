import { decide } from "@/lib/approvals/decide";
import { parseDecisionForm } from "@/lib/approvals/decision-form";
import { clearFlash } from "@/lib/requests/flash";
import { seeOther } from "../../../posted-form";
import { backWith, missing, receiveApprovalForm, staleForm } from "../posted-form";

/** Where the person's decision arrives, and nowhere else (I1). */
export function post(request: Request, params: Record<string, string>): Promise<Response> {
  return receiveApprovalForm(request, params, async (posted) => {
    const { service, session, id } = posted;
    const form = parseDecisionForm(posted.form);
    const result = await decide(service, session, id, form);
    switch (result.kind) {
      case "decided":
        return seeOther(`/a/${id}`, [clearFlash(service)]);
      case "already_decided":
        return backWith(posted, { notice: "already_decided", note: "" });
      case "notice":
        return backWith(posted, { notice: result.notice, note: form.note.slice(0, 2_000) });
      case "step_up":
        return seeOther(`/a/${id}/sign-in-again`);
      case "forbidden":
        throw staleForm();
      case "missing":
        throw missing();
      default:
        return result satisfies never;
    }
  });
}
