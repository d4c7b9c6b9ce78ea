import { freezeClient } from "@/lib/clients/freeze";
import { receiveAdminForm } from "../../../posted-form";

export function post(request: Request, params: Record<string, string>): Promise<Response> {
  return receiveAdminForm(request, params, { about: "client", verb: "freeze" }, async ({ service, id, actor }) => {
    await freezeClient(service, id, actor);
    return "frozen";
  });
}
