import { openForPerson } from "@/lib/approvals/open";
import { flashCookie } from "@/lib/requests/flash";
import { sessionCookie } from "@/lib/sessions/cookie";
import { isCsrfToken } from "@/lib/sessions/csrf";
import { stepUp } from "@/lib/sessions/step-up";
import { missing, type RouteContext, receiveForm, seeOther, staleForm } from "../../posted-form";

/** The step-up: the same person proves anew who they are; another account is refused, not switched to (section 8). */
export function post(request: Request, context: RouteContext): Promise<Response> {
  return receiveForm(request, context, async ({ service, session, id, form }) => {
    if (!isCsrfToken(service.secrets, { sid: session.sid, purpose: "step_up", target: id }, form.get("csrf") ?? ""))
      return staleForm();
    if (!(await openForPerson(service, session, id))) return missing();
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
