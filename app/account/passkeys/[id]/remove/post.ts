import { removePasskey } from "@/lib/passkeys/remove";
import { requireCsrf, seeOther } from "../../../../posted-form";
import { receiveAccountForm } from "../../../posted-form";
import { passkeysPlace, passkeyTarget, signInAgain } from "../../target";

/** Removes one of the person's own passkeys; one that is gone already, or that is not theirs, is simply not listed. */
export function post(request: Request, params: Record<string, string>): Promise<Response> {
  return receiveAccountForm(request, async (posted) => {
    const credentialId = params["id"] ?? "";
    requireCsrf(posted, "account", passkeyTarget(credentialId));
    const done = await removePasskey(posted.service, posted.session, credentialId);
    return seeOther(done === "sign_in_again" ? signInAgain : passkeysPlace);
  });
}
