import { askToStepUp } from "@/lib/passkeys/step-up";
import { receiveForm, requireCsrf } from "../../../../posted-form";

/** What the person's passkey is to sign in order to prove anew who they are. For the pages' own script: JSON. */
export function post(request: Request): Promise<Response> {
  return receiveForm(request, "/account", async (posted) => {
    const stepUpFor = posted.form.get("stepUpFor") ?? "";
    requireCsrf(posted, "step_up", stepUpFor);
    const question = await askToStepUp(posted.service, posted.session, stepUpFor);
    return Response.json(question ? { question } : {}, { headers: { "Cache-Control": "no-store" } });
  });
}
