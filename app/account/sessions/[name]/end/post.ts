import { revokeSession } from "@/lib/sessions/revoke";
import { requireCsrf, seeOther } from "../../../../posted-form";
import { receiveAccountForm } from "../../../posted-form";
import { endTarget } from "../../target";

/** Ends another session of the same person; one that is over already, or that is nobody's, is simply not listed any more. */
export function post(request: Request, params: Record<string, string>): Promise<Response> {
  const name = params["name"] ?? "";
  return receiveAccountForm(request, async (posted) => {
    requireCsrf(posted, "account", endTarget(name));
    await revokeSession(posted.service, posted.session, name);
    return seeOther("/account#sessions");
  });
}
