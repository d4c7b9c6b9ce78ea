import { stepUpWithPasskey } from "@/lib/passkeys/step-up";
import { sessionCookie } from "@/lib/sessions/cookie";
import { receiveForm, requireCsrf } from "../../../posted-form";

/** The step-up by a passkey: the same person proves anew who they are. For the pages' own script: JSON, and the new session's cookie. */
export function post(request: Request): Promise<Response> {
  return receiveForm(request, "/account", async (posted) => {
    const { service, session, form } = posted;
    // Its token is on the step-up page alone, which whoever may not see the approval never gets.
    const stepUpFor = form.get("stepUpFor") ?? "";
    requireCsrf(posted, "step_up", stepUpFor);
    const from = {
      userAgent: request.headers.get("user-agent") ?? undefined,
      address: request.headers.get("x-forwarded-for") ?? undefined,
    };
    const claims = await stepUpWithPasskey(service, session, form.get("answer") ?? "", stepUpFor, from);
    if (!claims) return Response.json({ fault: "refused" });
    return Response.json({}, { headers: { "Set-Cookie": await sessionCookie(service, claims) } });
  });
}
