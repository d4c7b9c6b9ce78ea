import { enableEndpoint } from "@/lib/webhooks/disable-endpoint";
import { receiveAdminForm } from "../../../posted-form";

export function post(request: Request, params: Record<string, string>): Promise<Response> {
  return receiveAdminForm(request, params, { about: "webhook", verb: "enable" }, async ({ service, id, actor }) => {
    await enableEndpoint(service, id, actor);
    return "webhook_enabled";
  });
}
