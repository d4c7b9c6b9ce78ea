import { Problem } from "@/lib/problem";
import { accountTarget, flashCookie } from "@/lib/requests/flash";
import { type Posted, receiveForm, seeOther, wantsPage } from "../posted-form";

/**
 * As `receiveForm`, for a form of the account page: a browser whose form is no longer valid, as after a step-up in another tab, is led
 * back to the page, which says so.
 */
export function receiveAccountForm(request: Request, answer: (posted: Posted) => Promise<Response>): Promise<Response> {
  return receiveForm(request, "/account", (posted) =>
    answer(posted).catch(async (error: unknown) => {
      const isStale = error instanceof Problem && error.code === "stale_form";
      if (!isStale || !wantsPage(request)) throw error;
      const binding = { sid: posted.session.sid, target: accountTarget };
      return seeOther("/account", [await flashCookie(posted.service, binding, { notice: "stale_form", note: "" })]);
    }),
  );
}
