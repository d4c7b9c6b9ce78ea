import { actAsAdmin } from "@/lib/admin/act";
import { type AdminNotice, noticeCookie, type TypedLink } from "@/lib/admin/notice";
import type { AuditActor } from "@/lib/audit/event";
import { Problem } from "@/lib/problem";
import { type Posted, receiveForm, requireCsrf, seeOther } from "../posted-form";

export type AdminForm = Posted & { id: string; actor: AuditActor };
type Said = AdminNotice | { notice: AdminNotice; link: TypedLink };

/**
 * As `receiveForm`, for a form of an admin's page about one client or user: nothing is here for anybody but admins, and a sign-in that is
 * not recent leads to a fresh one and back to the page, with nothing done. `act` says what the page then tells.
 */
export function receiveAdminForm(
  request: Request,
  params: Record<string, string>,
  { about, verb }: { about: "client" | "user"; verb: string },
  act: (posted: AdminForm) => Promise<Said>,
): Promise<Response> {
  const id = params["id"] ?? "";
  const page = adminPath(about, id);
  return receiveForm(request, page, async (posted) => {
    const { service, session } = posted;
    const acting = await actAsAdmin(service, session);
    if (acting.kind === "missing") throw new Problem("not_found");
    const said = await actOnce(
      posted,
      actTarget(about, verb, id),
      acting.kind === "acting" ? acting.actor : undefined,
      (actor) => act({ ...posted, id, actor }),
    );
    if (said === "step_up") return seeOther(`/account/sign-in-again?to=${encodeURIComponent(page)}`);
    const { notice, link } = typeof said === "string" ? { notice: said, link: undefined } : said;
    return seeOther(page, [await noticeCookie(service, { sid: session.sid, page }, notice, link)]);
  });
}

/** The page of a client or a user; the id is one step of the path, whatever it holds. */
export function adminPath(about: "client" | "user", id: string): string {
  return `/admin/${about === "client" ? "clients" : "people"}/${encodeURIComponent(id)}`;
}

/** What the token of a form is for: one act on one client or user, so that no form's token serves for another act. */
export function actTarget(about: "client" | "user", verb: string, id: string): string {
  return `${about}:${verb}:${id}`;
}

async function actOnce(
  posted: Posted,
  target: string,
  actor: AuditActor | undefined,
  act: (actor: AuditActor) => Promise<Said>,
): Promise<Said | "step_up"> {
  try {
    requireCsrf(posted, "admin", target);
    return actor ? await act(actor) : "step_up";
  } catch (error) {
    if (error instanceof Problem && error.code === "stale_form") return "stale_form";
    if (error instanceof Problem && error.code === "unavailable") return "busy";
    throw error;
  }
}
