import { disableEndpoint } from "@/lib/webhooks/disable-endpoint";
import { receiveAdminForm } from "../../../posted-form";

export function post(request: Request, params: Record<string, string>): Promise<Response> {
  return receiveAdminForm(request, params, { about: "webhook", verb: "disable" }, async ({ service, id, actor }) => {
    await disableEndpoint(service, id, actor);
    return "webhook_disabled";
  });
}
