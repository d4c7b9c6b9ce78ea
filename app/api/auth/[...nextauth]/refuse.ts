import type { Service } from "@/lib/process";
import { flashCookie, linksTarget, type SignInNotice, stepUpTarget } from "@/lib/requests/flash";
import { signInErrorOf, signInPage } from "@/lib/requests/sign-in-page";
import { stepUpForAccount } from "@/lib/sessions/replace";
import type { Transaction } from "@/lib/sessions/transaction";
import { seeOther } from "../../../posted-form";

/** The parts of a flow that say where a refusal leads. */
type Refused = {
  to: string;
  back: string;
  transaction?: Pick<Transaction, "sid" | "purpose" | "approvalId"> | undefined;
};

/**
 * One page that says why, with a button to try again; never on to the provider by itself (section 8). A step-up or link leads back to
 * where it began, with a notice for its own session alone; anything else to the sign-in page. No session is changed.
 */
export async function refuse(
  service: Service,
  flow: Refused,
  why: SignInNotice,
  cookies: string[] = [],
): Promise<Response> {
  const { to, back, transaction } = flow;
  if (!transaction || why === "other_session") return seeOther(signInPage(to, signInErrorOf(why)), cookies);
  const target =
    transaction.purpose === "link" ? linksTarget : stepUpTarget(transaction.approvalId ?? stepUpForAccount);
  const flash = await flashCookie(service, { sid: transaction.sid, target }, { notice: why, note: "" });
  return seeOther(back, [...cookies, flash]);
}
