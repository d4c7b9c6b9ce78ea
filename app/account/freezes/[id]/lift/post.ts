import { liftOwnFreeze } from "@/lib/clients/lift-freeze";
import { requireCsrf, seeOther } from "../../../../posted-form";
import { receiveAccountForm } from "../../../posted-form";
import { freezesPlace, freezeTarget, signInAgain } from "../../target";

/** Lets a client ask this person again; a freeze that is over already, or that is not theirs, is simply not listed. */
export function post(request: Request, params: Record<string, string>): Promise<Response> {
  return receiveAccountForm(request, async (posted) => {
    const freezeId = params["id"] ?? "";
    requireCsrf(posted, "account", freezeTarget(freezeId));
    const result = await liftOwnFreeze(posted.service, posted.session, freezeId);
    return seeOther(result === "step_up" ? signInAgain : freezesPlace);
  });
}
