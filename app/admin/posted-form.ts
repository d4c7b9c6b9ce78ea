import { actAsAdmin } from "@/lib/admin/act";
import { type AdminNotice, noticeCookie, type TypedLink } from "@/lib/admin/notice";
import type { AuditActor } from "@/lib/audit/event";
import { Problem, type ProblemCode } from "@/lib/problem";
import { signInAgainPath } from "../account/sign-in-again/path";
import { type Posted, receiveForm, requireCsrf, seeOther, wantsPage } from "../posted-form";

export type AdminForm = Posted & { id: string; actor: AuditActor };
type Said = AdminNotice | { notice: AdminNotice; link: TypedLink };

/**
 * As `receiveForm`, for a form of an admin's page about one client, user or webhook endpoint: nothing is here for anybody but admins, and a sign-in that is
 * not recent leads to a fresh one and back to the page, with nothing done. `act` says what the page then tells; where what it is about is not
 * there (any more), a browser comes back to the page too, which is that of a miss where what the page is about is not there.
 */
export function receiveAdminForm(
  request: Request,
  params: Record<string, string>,
  { about, verb }: { about: About; verb: string },
  act: (posted: AdminForm) => Promise<Said>,
): Promise<Response> {
  const id = params["id"] ?? "";
  const page = adminPath(about, id);
  return receiveForm(request, page, async (posted) => {
    const { service, session } = posted;
    const acting = await actAsAdmin(service, session, request.headers);
    if (acting.kind === "missing") throw new Problem("not_found");
    const said = await actOnce(
      posted,
      actTarget(about, verb, id),
      acting.kind === "acting" ? acting.actor : undefined,
      (actor) => act({ ...posted, id, actor }),
    ).catch((error: unknown) => {
      if (wantsPage(request) && error instanceof Problem && isGone.has(error.code)) return "gone" as const;
      throw error;
    });
    if (said === "step_up") return seeOther(signInAgainPath(page));
    const { notice, link } = typeof said === "string" ? { notice: said, link: undefined } : said;
    return seeOther(page, [await noticeCookie(service, { sid: session.sid, page }, notice, link)]);
  });
}

/** Of an act: what it names is not there, or is no longer what the page has shown. */
const isGone = new Set<ProblemCode>(["not_found", "invalid_request"]);

/** What a page of an admin is about. */
export type About = "client" | "user" | "webhook";

/** The page of one client, user or endpoint; the id is one step of the path, whatever it holds. */
export function adminPath(about: About, id: string): string {
  return `/admin/${folders[about]}/${encodeURIComponent(id)}`;
}

const folders = { client: "clients", user: "people", webhook: "webhooks" } as const satisfies Record<About, string>;

/** What the token of a form is for: one act on one thing, so that no form's token serves for another act. */
export function actTarget(about: About, verb: string, id: string): string {
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
