import { replayDelivery } from "@/lib/webhooks/replay";
import { receiveAdminForm } from "../../../posted-form";

export function post(request: Request, params: Record<string, string>): Promise<Response> {
  return receiveAdminForm(
    request,
    params,
    { about: "webhook", verb: "replay" },
    async ({ service, id, actor, form }) => {
      await replayDelivery(service, { deliveryId: form.get("delivery") ?? "", endpointId: id }, actor);
      return "webhook_replayed";
    },
  );
}
