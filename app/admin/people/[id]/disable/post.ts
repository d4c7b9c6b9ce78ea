import { disableUser } from "@/lib/users/disable";
import { receiveAdminForm } from "../../../posted-form";

export function post(request: Request, params: Record<string, string>): Promise<Response> {
  return receiveAdminForm(
    request,
    params,
    { about: "user", verb: "disable" },
    async ({ service, session, id, actor }) => {
      // Whoever is left can be the last admin; the command line still can.
      if (id === session.userId) return "disable_self";
      await disableUser(service, id, actor);
      return "disabled";
    },
  );
}
