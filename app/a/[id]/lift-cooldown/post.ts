import { liftCooldown } from "@/lib/approvals/lift-cooldown";
import { backWith, receiveApprovalForm, staleForm } from "../posted-form";

export function post(request: Request, params: Record<string, string>): Promise<Response> {
  return receiveApprovalForm(request, params, async (posted) => {
    const isLifted = await liftCooldown(posted.service, posted.session, posted.id, posted.form.get("csrf") ?? "");
    if (!isLifted) throw staleForm();
    return backWith(posted, { notice: "lifted", note: "" });
  });
}
