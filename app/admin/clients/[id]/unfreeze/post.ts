import { unfreezeClient } from "@/lib/clients/freeze";
import { receiveAdminForm } from "../../../posted-form";

export function post(request: Request, params: Record<string, string>): Promise<Response> {
  return receiveAdminForm(request, params, { about: "client", verb: "unfreeze" }, async ({ service, id, actor }) => {
    await unfreezeClient(service, id, actor);
    return "unfrozen";
  });
}
