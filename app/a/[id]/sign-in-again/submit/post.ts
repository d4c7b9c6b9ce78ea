import { openForPerson } from "@/lib/approvals/open";
import { flashCookie } from "@/lib/requests/flash";
import { sessionCookie } from "@/lib/sessions/cookie";
import { isCsrfToken } from "@/lib/sessions/csrf";
import { stepUp } from "@/lib/sessions/step-up";
import { seeOther } from "../../../../posted-form";
import { missing, receiveApprovalForm, staleForm } from "../../posted-form";

/** The step-up: the same person proves anew who they are; another account is refused, not switched to (section 8). */
export function post(request: Request, params: Record<string, string>): Promise<Response> {
  return receiveApprovalForm(request, params, async ({ service, session, id, form }) => {
    if (!isCsrfToken(service.secrets, { sid: session.sid, purpose: "step_up", target: id }, form.get("csrf") ?? ""))
      throw staleForm();
    if (!(await openForPerson(service, session, id))) throw missing();
    const from = {
      userAgent: request.headers.get("user-agent") ?? undefined,
      address: request.headers.get("x-forwarded-for") ?? undefined,
    };
    const claims = await stepUp(service, session, form.get("password") ?? "", id, from);
    if (claims) return seeOther(`/a/${id}`, [await sessionCookie(service, claims)]);
    return seeOther(`/a/${id}/sign-in-again`, [
      await flashCookie(service, { sid: session.sid, target: id }, { notice: "wrong_password", note: "" }),
    ]);
  });
}
