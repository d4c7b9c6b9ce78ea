import { liftCooldown } from "@/lib/approvals/lift-cooldown";
import { backWith, type RouteContext, receiveForm, staleForm } from "../posted-form";

export function post(request: Request, context: RouteContext): Promise<Response> {
  return receiveForm(request, context, async (posted) => {
    const isLifted = await liftCooldown(posted.service, posted.session, posted.id, posted.form.get("csrf") ?? "");
    return isLifted ? backWith(posted, { notice: "lifted", note: "" }) : staleForm();
  });
}
