import { LinkRefusal, linkIdentity } from "@/lib/users/link";
import { receiveAdminForm } from "../../../posted-form";

/** Lets this user decide for another identity, once the admin has said that they verified whose it is. */
export function post(request: Request, params: Record<string, string>): Promise<Response> {
  return receiveAdminForm(request, params, { about: "user", verb: "link" }, async ({ service, id, actor, form }) => {
    // Space around comes from copying; inside, each character counts.
    const link = { iss: (form.get("iss") ?? "").trim(), sub: (form.get("sub") ?? "").trim() };
    if (form.get("verified") !== "yes") return { notice: "link_unverified", link };
    try {
      await linkIdentity(service, { user: id, ...link }, actor);
      return "linked";
    } catch (error) {
      if (error instanceof LinkRefusal) return { notice: `link_${error.reason}`, link };
      throw error;
    }
  });
}
