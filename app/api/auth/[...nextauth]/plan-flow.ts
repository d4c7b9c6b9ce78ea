import { isApprovalId } from "@/lib/approvals/id";
import { openForPerson } from "@/lib/approvals/open";
import { readClock } from "@/lib/database/clock";
import type { ConfiguredProvider } from "@/lib/oidc/parse-providers";
import { Problem } from "@/lib/problem";
import type { Service } from "@/lib/process";
import { ownPath } from "@/lib/requests/own-path";
import { samePath } from "@/lib/requests/same-path";
import { signInPage } from "@/lib/requests/sign-in-page";
import { type CsrfBinding, isCsrfToken } from "@/lib/sessions/csrf";
import { readSession } from "@/lib/sessions/read";
import { stepUpForAccount } from "@/lib/sessions/replace";
import { isRecent, type PersonSession, recentSeconds } from "@/lib/sessions/session";
import type { Transaction } from "@/lib/sessions/transaction";
import { linksPlace, linkTarget, signInAgain } from "../../../account/links/target";
import { signInAgainPath } from "../../../account/sign-in-again/path";
import { seeOther } from "../../../posted-form";
import type { Asked } from "./oidc";
import { refuse } from "./refuse";

/** A flow that may begin: what to ask of the provider, and where success and refusal lead. */
export type Plan = {
  asked: Asked;
  to: string;
  back: string;
  transaction?: Omit<Transaction, "id" | "startedAt">;
};
type Begun = { service: Service; provider: ConfiguredProvider; headers: Headers; form: URLSearchParams };

/**
 * Judges a form that wants to go to a provider, by its field `flow`: absent for a sign-in, `step_up`, or `link`. A response where it may
 * not. Errors: `not_found` for an approval that is not this person's.
 */
export async function planFlow(begun: Begun): Promise<Plan | Response> {
  const flow = begun.form.get("flow");
  if (flow === "step_up") return planStepUp(begun);
  if (flow === "link") return planLink(begun);
  const to = ownPath(begun.service.config.url, begun.form.get("callbackUrl"));
  // The same for every id, so that it tells nothing of any; and what the default policy asks for, so that one sign-in is enough.
  const max_age = to.startsWith("/a/") ? approvalMaxAgeSeconds : anyMaxAgeSeconds;
  return { asked: { max_age }, to, back: signInPage(to) };
}

const approvalMaxAgeSeconds = 900;
/** A year: no sign-in is too old, and the provider says when it was. */
const anyMaxAgeSeconds = 31_536_000;

async function planStepUp({ service, provider, headers, form }: Begun): Promise<Plan | Response> {
  const id = form.get("approval") ?? "";
  if (id !== "" && !isApprovalId(id)) throw new Problem("not_found");
  const wanted = samePath(form.get("to"));
  const [to, back] = id === "" ? [wanted, signInAgainPath(wanted)] : [`/a/${id}`, `/a/${id}/sign-in-again`];
  const session = await readSession(service, headers);
  if (!session) return seeOther(signInPage(to));
  const { sid, userId } = session;
  const transaction = { purpose: "step_up", sid, userId, provider: provider.id, approvalId: id || null } as const;
  const binding = { sid, purpose: "step_up", target: id || stepUpForAccount } as const;
  // Another provider's people are others: it could only be refused when they come back.
  if (!isToken(service, form, binding) || provider.subjectIssuer !== session.iss)
    return refuse(service, { to, back, transaction }, "stale_form");
  const max_age = id === "" ? recentSeconds : await maxAgeFor(service, session, id);
  return { asked: { prompt: "login", max_age }, to, back, transaction };
}

/** Errors: `not_found`. */
async function maxAgeFor(service: Service, session: PersonSession, id: string): Promise<number> {
  const opened = await openForPerson(service, session, id);
  if (!opened) throw new Problem("not_found");
  return opened.record?.requirements.maxAuthAgeSeconds ?? 0;
}

async function planLink({ service, provider, headers, form }: Begun): Promise<Plan | Response> {
  const [to, back] = [linksPlace, linksPlace];
  const session = await readSession(service, headers);
  if (!session) return seeOther(signInPage(to));
  const { sid, userId } = session;
  const transaction = { purpose: "link", sid, userId, provider: provider.id, approvalId: null } as const;
  if (!isToken(service, form, { sid, purpose: "account", target: linkTarget(provider.id) }))
    return refuse(service, { to, back, transaction }, "stale_form");
  if (!isRecent(session, await readClock(service.pool))) return seeOther(signInAgain);
  return { asked: { prompt: "login", max_age: recentSeconds }, to, back, transaction };
}

function isToken(service: Service, form: URLSearchParams, binding: CsrfBinding): boolean {
  return isCsrfToken(service.secrets, binding, form.get("csrf") ?? "");
}
