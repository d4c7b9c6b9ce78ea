import type { NextRequest } from "next/server";
import { type Ending, finishFlow } from "@/lib/oidc/finish";
import type { ConfiguredProvider } from "@/lib/oidc/parse-providers";
import type { Service } from "@/lib/process";
import { flashCookie, linksTarget } from "@/lib/requests/flash";
import { signInPage } from "@/lib/requests/sign-in-page";
import { secretOfCookie, sessionCookie } from "@/lib/sessions/cookie";
import { clearFlow, type Flow, readFlow } from "@/lib/sessions/flow-cookie";
import { takeTransaction } from "@/lib/sessions/transaction";
import { seeOther } from "../../../posted-form";
import { type Context, callNextAuth } from "./call";
import type { Exchange } from "./options";
import { refuse } from "./refuse";
import { signedIn } from "./signed-in";

/**
 * Takes a provider's answer. It counts for the flow of this browser that it belongs to by `state`, once: a transaction is taken before
 * anything is judged. Without one nothing is looked at, and no cookie is touched, so that a forged answer cannot disturb a flow under way.
 */
export async function finishAnswer(
  service: Service,
  request: NextRequest,
  context: Context,
  provider: ConfiguredProvider,
): Promise<Response> {
  const { headers, nextUrl } = request;
  const flow = await readFlow(service, headers);
  const names = [...nextUrl.searchParams.keys()];
  // RFC 6749 section 3.1: no parameter stands twice.
  const isWhole = new Set(names).size === names.length;
  if (flow?.provider !== provider.id || nextUrl.searchParams.get("state") !== flow.state || !isWhole)
    return seeOther(signInPage(flow?.to ?? "/inbox", "flow_used"));
  const cleared = clearFlow(service);
  const { transaction } = flow;
  const now = transaction && (await takeTransaction(service, transaction));
  if (transaction && !now) return refuse(service, flow, "flow_used", [cleared]);
  const exchange: Exchange = {
    secret: await secretOfCookie(service, headers, stateCookieName(service)),
    finish: (claims) =>
      finishFlow(service, {
        provider,
        claims,
        headers,
        ...(transaction && now ? { taken: { transaction, now } } : {}),
      }),
  };
  const answer = await callNextAuth(service, request, context, exchange);
  const cookies = [...answer.headers.getSetCookie(), cleared];
  if (!exchange.ending) {
    const isDeclined = nextUrl.searchParams.get("error") === "access_denied";
    return refuse(service, flow, isDeclined ? "provider_declined" : "provider_failed", cookies);
  }
  return answerFor(service, flow, exchange.ending, headers, cookies);
}

async function answerFor(
  service: Service,
  flow: Flow,
  ending: Ending,
  headers: Headers,
  cookies: string[],
): Promise<Response> {
  switch (ending.kind) {
    case "signed_in":
      return seeOther(flow.to, [...cookies, ...(await signedIn(service, ending.claims, headers))]);
    case "stepped_up":
      return seeOther(flow.to, [...cookies, await sessionCookie(service, ending.claims)]);
    case "linked": {
      const binding = { sid: flow.transaction?.sid ?? "", target: linksTarget };
      return seeOther(flow.to, [...cookies, await flashCookie(service, binding, { notice: "linked", note: "" })]);
    }
    case "refused":
      return refuse(service, flow, ending.why, cookies);
    default:
      return ending satisfies never;
  }
}

const stateCookieName = (service: Service) =>
  service.config.url.startsWith("https:") ? "__Secure-next-auth.state" : "next-auth.state";
