import { liftPersonFreeze } from "@/lib/clients/lift-freeze";
import { receiveAdminForm } from "../../../posted-form";

export function post(request: Request, params: Record<string, string>): Promise<Response> {
  return receiveAdminForm(
    request,
    params,
    { about: "client", verb: "lift-freeze" },
    async ({ service, id, actor, form }) => {
      await liftPersonFreeze(service, { freezeId: form.get("freeze") ?? "", clientId: id }, actor);
      return "freeze_lifted";
    },
  );
}
