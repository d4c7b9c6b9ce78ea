import { openForPerson } from "@/lib/approvals/open";
import { isCsrfToken } from "@/lib/sessions/csrf";
import { stepUpWithPassword } from "../../../../step-up-with-password";
import { missing, receiveApprovalForm, staleForm } from "../../posted-form";

/** The step-up: the same person proves anew who they are; another account is refused, not switched to (section 8). */
export function post(request: Request, params: Record<string, string>): Promise<Response> {
  return receiveApprovalForm(request, params, async (posted) => {
    const { service, session, id, form } = posted;
    if (!isCsrfToken(service.secrets, { sid: session.sid, purpose: "step_up", target: id }, form.get("csrf") ?? ""))
      throw staleForm();
    if (!(await openForPerson(service, session, id))) throw missing();
    const at = { stepUpFor: id, to: `/a/${id}`, page: `/a/${id}/sign-in-again` };
    return stepUpWithPassword(posted, request, at);
  });
}
