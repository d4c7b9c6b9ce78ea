import { askPasskey } from "@/lib/approvals/ask-passkey";
import { parseDecisionForm } from "@/lib/approvals/decision-form";
import { missing, receiveApprovalForm, staleForm } from "../posted-form";

/**
 * What the person's passkey is to sign in order to approve. For the page's own script: JSON, with the page to go to where the form does
 * not hold any more.
 */
export function post(request: Request, params: Record<string, string>): Promise<Response> {
  return receiveApprovalForm(request, params, async ({ service, session, id, form }) => {
    const asked = await askPasskey(service, session, id, parseDecisionForm(form));
    switch (asked.kind) {
      case "question":
        return Response.json({ question: asked.question }, { headers: { "Cache-Control": "no-store" } });
      case "forbidden":
        throw staleForm();
      case "missing":
        throw missing();
      case "step_up":
        return Response.json({ goTo: `/a/${id}/sign-in-again` });
      case "ended":
      case "view_changed":
      case "no_passkey":
        return Response.json({ goTo: `/a/${id}` });
      default:
        return asked satisfies never;
    }
  });
}
