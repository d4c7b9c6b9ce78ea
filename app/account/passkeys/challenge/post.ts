import { askToRegister } from "@/lib/passkeys/register";
import { receiveForm, requireCsrf } from "../../../posted-form";
import { newPasskeyTarget, signInAgain } from "../target";

/** What the person's device is to make. For the page's own script: JSON, or why nothing can be made now. */
export function post(request: Request): Promise<Response> {
  return receiveForm(request, "/account", async (posted) => {
    requireCsrf(posted, "account", newPasskeyTarget);
    const asked = await askToRegister(posted.service, posted.session, posted.form.get("name") ?? "");
    switch (asked.kind) {
      case "question":
        return Response.json({ question: asked.question }, { headers: { "Cache-Control": "no-store" } });
      case "sign_in_again":
        return Response.json({ goTo: signInAgain });
      case "too_many":
      case "bad_name":
        return Response.json({ fault: asked.kind });
      default:
        return asked satisfies never;
    }
  });
}
