import { sendTestEvent } from "@/lib/webhooks/send-test-event";
import { receiveAdminForm } from "../../../posted-form";

export function post(request: Request, params: Record<string, string>): Promise<Response> {
  return receiveAdminForm(request, params, { about: "webhook", verb: "test" }, async ({ service, id, actor }) => {
    const { result } = await sendTestEvent(service, id, actor);
    return result.kind === "delivered" ? "webhook_arrived" : "webhook_failed";
  });
}
