import { acknowledgeAlert } from "@/lib/admin/acknowledge";
import { receiveAdminForm } from "../../../posted-form";

export function post(request: Request, params: Record<string, string>): Promise<Response> {
  return receiveAdminForm(
    request,
    params,
    { about: "client", verb: "acknowledge" },
    async ({ service, id, actor, form }) => {
      await acknowledgeAlert(service, { clientId: id, seq: form.get("alert") ?? "" }, actor);
      return "acknowledged";
    },
  );
}
