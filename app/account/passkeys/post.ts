import { registerPasskey } from "@/lib/passkeys/register";
import { receiveForm, requireCsrf } from "../../posted-form";
import { newPasskeyTarget, passkeysPlace, signInAgain } from "./target";

/** Registers the passkey that the person's device has made. For the page's own script: JSON. */
export function post(request: Request): Promise<Response> {
  return receiveForm(request, "/account", async (posted) => {
    requireCsrf(posted, "account", newPasskeyTarget);
    const { service, session, form } = posted;
    const sent = { answer: form.get("answer") ?? "", name: form.get("name") ?? "" };
    const result = await registerPasskey(service, session, sent);
    if (result.kind === "registered") return Response.json({ goTo: passkeysPlace });
    return Response.json(result.kind === "sign_in_again" ? { goTo: signInAgain } : { fault: result.kind });
  });
}
