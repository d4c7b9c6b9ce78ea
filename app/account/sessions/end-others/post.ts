import { revokeOtherSessions } from "@/lib/sessions/revoke";
import { requireCsrf, seeOther } from "../../../posted-form";
import { receiveAccountForm } from "../../posted-form";
import { endOthersTarget } from "../target";

/** Signs the person out everywhere else. */
export function post(request: Request): Promise<Response> {
  return receiveAccountForm(request, async (posted) => {
    requireCsrf(posted, "account", endOthersTarget);
    await revokeOtherSessions(posted.service, posted.session);
    return seeOther("/account#sessions");
  });
}
