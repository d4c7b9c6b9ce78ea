import { flashCookie, stepUpTarget } from "@/lib/requests/flash";
import { samePath } from "@/lib/requests/same-path";
import { isCsrfToken } from "@/lib/sessions/csrf";
import { stepUpForAccount } from "@/lib/sessions/replace";
import { receiveForm, seeOther } from "../../../posted-form";
import { stepUpWithPassword } from "../../../step-up-with-password";
import { signInAgainPath } from "../path";

/** The step-up of everything that changes an account, by the password of the same account. */
export function post(request: Request): Promise<Response> {
  return receiveForm(request, "/account", async (posted) => {
    const { service, session, form } = posted;
    const { sid } = session;
    const to = samePath(form.get("to"));
    const page = signInAgainPath(to);
    const binding = { sid, purpose: "step_up", target: stepUpForAccount } as const;
    if (isCsrfToken(service.secrets, binding, form.get("csrf") ?? ""))
      return stepUpWithPassword(posted, request, { stepUpFor: stepUpForAccount, to, page });
    const said = { sid, target: stepUpTarget(stepUpForAccount) };
    return seeOther(page, [await flashCookie(service, said, { notice: "stale_form", note: "" })]);
  });
}
