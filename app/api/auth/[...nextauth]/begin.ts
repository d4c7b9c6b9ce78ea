import type { NextRequest } from "next/server";
import type { ConfiguredProvider } from "@/lib/oidc/parse-providers";
import { Problem } from "@/lib/problem";
import type { Service } from "@/lib/process";
import { readForm } from "@/lib/requests/read-form";
import { flowCookie } from "@/lib/sessions/flow-cookie";
import { beginTransaction } from "@/lib/sessions/transaction";
import { seeOther } from "../../../posted-form";
import { type Context, callNextAuth, withForm } from "./call";
import { planFlow } from "./plan-flow";
import { refuse } from "./refuse";

/**
 * Sends somebody to a provider, for a sign-in, a step-up or a link. What it is for goes into an encrypted cookie, set in the same response
 * as next-auth's own and bound to the `state` of this request. Errors: `unsupported_media_type`, and those of `planFlow`.
 */
export async function beginFlow(
  service: Service,
  request: NextRequest,
  context: Context,
  provider: ConfiguredProvider,
): Promise<Response> {
  const form = await readForm(request);
  if (!form) throw new Problem("unsupported_media_type");
  const plan = await planFlow({ service, provider, headers: request.headers, form });
  if (plan instanceof Response) return plan;
  const fields = { csrfToken: form.get("csrfToken") ?? "", callbackUrl: service.config.url + plan.to };
  const answer = await callNextAuth(service, withForm(request, fields), context, { asked: plan.asked });
  const location = answer.headers.get("location") ?? "";
  const leading = URL.canParse(location) ? new URL(location) : undefined;
  const state = leading?.searchParams.get("state");
  if (!leading || !state || leading.origin === service.config.url)
    return refuse(service, plan, isStale(location) ? "stale_form" : "provider_failed", answer.headers.getSetCookie());
  const transaction = plan.transaction && (await beginTransaction(service, plan.transaction));
  const cookie = await flowCookie(service, {
    provider: provider.id,
    state,
    to: plan.to,
    back: plan.back,
    ...(transaction ? { transaction } : {}),
  });
  return seeOther(location, [...answer.headers.getSetCookie(), cookie]);
}

/** next-auth's own token was missing or of another browser; it has set a new one with this answer. */
const isStale = (location: string) => location.includes("csrf=true");
