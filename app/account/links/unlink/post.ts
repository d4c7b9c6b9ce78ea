import { Problem } from "@/lib/problem";
import { flashCookie, type LinkNotice, linksTarget } from "@/lib/requests/flash";
import { unlinkSelf } from "@/lib/users/link-self";
import { type Posted, receiveForm, requireCsrf, seeOther } from "../../../posted-form";
import { linksPlace, signInAgain, unlinkTarget } from "../target";

/** Takes away a link that the person made themself. */
export function post(request: Request): Promise<Response> {
  return receiveForm(request, "/account", async (posted) => {
    const said = await unlink(posted);
    if (said === "sign_in_again") return seeOther(signInAgain);
    const binding = { sid: posted.session.sid, target: linksTarget };
    return seeOther(linksPlace, [await flashCookie(posted.service, binding, { notice: said, note: "" })]);
  });
}

async function unlink(posted: Posted): Promise<LinkNotice | "sign_in_again"> {
  const { service, session, form } = posted;
  const identity = { iss: form.get("iss") ?? "", sub: form.get("sub") ?? "" };
  try {
    requireCsrf(posted, "account", unlinkTarget(identity));
    return await unlinkSelf(service, session, identity);
  } catch (error) {
    if (error instanceof Problem && (error.code === "stale_form" || error.code === "not_found")) return error.code;
    throw error;
  }
}
