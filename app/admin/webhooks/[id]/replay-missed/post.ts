import { replayMissed } from "@/lib/webhooks/replay";
import { receiveAdminForm } from "../../../posted-form";

export function post(request: Request, params: Record<string, string>): Promise<Response> {
  return receiveAdminForm(
    request,
    params,
    { about: "webhook", verb: "replay-missed" },
    async ({ service, id, actor }) => {
      await replayMissed(service, id, actor);
      return "webhook_replayed";
    },
  );
}
