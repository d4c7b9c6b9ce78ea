import { endUserSessions } from "@/lib/sessions/end-all";
import { receiveAdminForm } from "../../../posted-form";

export function post(request: Request, params: Record<string, string>): Promise<Response> {
  return receiveAdminForm(request, params, { about: "user", verb: "end-sessions" }, async ({ service, id, actor }) => {
    await endUserSessions(service, id, actor);
    return "sessions_ended";
  });
}
