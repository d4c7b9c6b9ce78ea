import { takeBack } from "@/lib/approvals/take-back";
import { clearFlash } from "@/lib/requests/flash";
import { seeOther } from "../../../posted-form";
import { backWith, missing, receiveApprovalForm, staleForm } from "../posted-form";

export function post(request: Request, params: Record<string, string>): Promise<Response> {
  return receiveApprovalForm(request, params, async (posted) => {
    const { kind } = await takeBack(posted.service, posted.session, posted.id, posted.form.get("csrf") ?? "");
    if (kind === "forbidden") throw staleForm();
    if (kind === "missing") throw missing();
    if (kind === "too_late") return backWith(posted, { notice: "too_late", note: "" });
    return seeOther(`/a/${posted.id}`, [clearFlash(posted.service)]);
  });
}
