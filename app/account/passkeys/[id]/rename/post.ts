import { renamePasskey } from "@/lib/passkeys/rename";
import { requireCsrf, seeOther } from "../../../../posted-form";
import { receiveAccountForm } from "../../../posted-form";
import { passkeysPlace, passkeyTarget, signInAgain } from "../../target";

/** Gives one of the person's own passkeys another name; the page shows what it is called afterwards. */
export function post(request: Request, params: Record<string, string>): Promise<Response> {
  return receiveAccountForm(request, async (posted) => {
    const credentialId = params["id"] ?? "";
    requireCsrf(posted, "account", passkeyTarget(credentialId));
    const { service, session, form } = posted;
    const done = await renamePasskey(service, session, { credentialId, name: form.get("name") ?? "" });
    return seeOther(done === "sign_in_again" ? signInAgain : passkeysPlace);
  });
}
