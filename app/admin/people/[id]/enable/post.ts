import { enableUser } from "@/lib/users/disable";
import { receiveAdminForm } from "../../../posted-form";

export function post(request: Request, params: Record<string, string>): Promise<Response> {
  return receiveAdminForm(request, params, { about: "user", verb: "enable" }, async ({ service, id, actor }) => {
    await enableUser(service, id, actor);
    return "enabled";
  });
}
