import { takeBack } from "@/lib/approvals/take-back";
import { clearFlash } from "@/lib/requests/flash";
import { backWith, missing, type RouteContext, receiveForm, seeOther, staleForm } from "../posted-form";

export function post(request: Request, context: RouteContext): Promise<Response> {
  return receiveForm(request, context, async (posted) => {
    const { kind } = await takeBack(posted.service, posted.session, posted.id, posted.form.get("csrf") ?? "");
    if (kind === "forbidden") return staleForm();
    if (kind === "missing") return missing();
    if (kind === "too_late") return backWith(posted, { notice: "too_late", note: "" });
    return seeOther(`/a/${posted.id}`, [clearFlash(posted.service)]);
  });
}
