import { Problem } from "@/lib/problem";
import { type Flash, flashCookie } from "@/lib/requests/flash";
import { type Posted, receiveForm, seeOther, wantsPage } from "../../posted-form";

export type PostedForm = Posted & { id: string };

/** As `receiveForm`, for a form of an approval's page: a browser whose form is no longer valid is led back to the page, which says so. */
export function receiveApprovalForm(
  request: Request,
  params: Record<string, string>,
  answer: (posted: PostedForm) => Promise<Response>,
): Promise<Response> {
  const id = params["id"] ?? "";
  return receiveForm(request, pagePath(id), (posted) =>
    answer({ ...posted, id }).catch((error: unknown) => {
      const isStale = error instanceof Problem && error.code === "stale_form";
      if (isStale && wantsPage(request)) return backWith({ ...posted, id }, { notice: "stale_form", note: "" });
      throw error;
    }),
  );
}

/** Back to the approval's page with something to say. */
export async function backWith({ service, id, session }: PostedForm, flash: Flash): Promise<Response> {
  return seeOther(pagePath(id), [await flashCookie(service, { sid: session.sid, target: id }, flash)]);
}

/** There is nothing here for this person (I2). */
export const missing = () => new Problem("not_found");
/** The form was not made for this session, page and purpose; nothing was done. */
export const staleForm = () => new Problem("stale_form");

/** Where an approval's page is; what is no id may hold anything. */
export const pagePath = (id: string) => `/a/${encodeURIComponent(id)}`;
