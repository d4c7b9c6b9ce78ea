import { Problem } from "@/lib/problem";
import { flashCookie, stepUpTarget } from "@/lib/requests/flash";
import { readSource } from "@/lib/requests/source";
import { sessionCookie } from "@/lib/sessions/cookie";
import { stepUp } from "@/lib/sessions/step-up";
import { type Posted, seeOther } from "./posted-form";

/** Where a step-up by password leads: `to` where it succeeds, with a new session; else back to the page that asks, which says why. */
export async function stepUpWithPassword(
  { service, session, form }: Posted,
  request: Request,
  at: { stepUpFor: string; to: string; page: string },
): Promise<Response> {
  const back = async (notice: "wrong_password" | "throttled" | "unavailable", note = "") =>
    seeOther(at.page, [
      await flashCookie(service, { sid: session.sid, target: stepUpTarget(at.stepUpFor) }, { notice, note }),
    ]);
  try {
    const claims = await stepUp(
      service,
      session,
      form.get("password") ?? "",
      at.stepUpFor,
      readSource(request.headers),
    );
    return claims ? seeOther(at.to, [await sessionCookie(service, claims)]) : await back("wrong_password");
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code === "throttled") return back("throttled", String(error.extras.retryAfterSeconds ?? 1));
    if (error.code === "unavailable") return back("unavailable");
    throw error;
  }
}
