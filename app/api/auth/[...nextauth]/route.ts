import { randomUUID } from "node:crypto";
import type { NextRequest } from "next/server";
import { Problem, toProblemResponse } from "@/lib/problem";
import { getService, type Service } from "@/lib/process";
import { isSameOrigin } from "@/lib/requests/same-origin";
import { samePath } from "@/lib/requests/same-path";
import { seeOther } from "../../../posted-form";
import { beginFlow } from "./begin";
import { type Context, callNextAuth } from "./call";
import { finishAnswer } from "./finish";
import { signInWithForm } from "./sign-in-form";

/** A provider's answer, and what next-auth needs to set its token; nothing that signs in or out. */
async function handleGet(request: NextRequest, context: Context): Promise<Response> {
  const service = getService();
  const [action, id] = (await context.params).nextauth;
  return guarded(service, async () => {
    if (action === "callback") return finishAnswer(service, request, context, providerCalled(service, id));
    if (action === "csrf" && request.nextUrl.searchParams.has("callbackUrl"))
      return setToken(service, request, context);
    if (!action || !readable.has(action) || id !== undefined) throw new Problem("not_found");
    return callNextAuth(service, request, context);
  });
}

/** `signin` leads to our page; `session` says only whether there is one. */
const readable = new Set(["signin", "signout", "csrf", "session", "error"]);

/** Signing somebody in or out from another site is refused like every other form (I1), before next-auth looks at its own token. */
async function handlePost(request: NextRequest, context: Context): Promise<Response> {
  const service = getService();
  if (!isSameOrigin(request.headers, service.config.url)) return new Response("Forbidden", { status: 403 });
  const [action, id] = (await context.params).nextauth;
  return guarded(service, async () => {
    if (action === "signin") return beginFlow(service, request, context, providerCalled(service, id));
    if (action === "callback" && isProvider(service, id)) throw new Problem("not_found");
    if (action === "callback") return signInWithForm(service, request, context);
    // The others would let any page of ours, or any script, write to the log or renew a session.
    if (action !== "signout") throw new Problem("not_found");
    return callNextAuth(service, request, context);
  });
}

/** A scanner that only asks for the head of an answer's link must not use it up. */
function handleHead(): Response {
  return new Response(null, { status: 404 });
}

const isProvider = (service: Service, id: string | undefined) =>
  service.config.oidcProviders.some((provider) => provider.id === id);

function providerCalled(service: Service, id: string | undefined) {
  const provider = service.config.oidcProviders.find((configured) => configured.id === id);
  if (!provider) throw new Problem("not_found");
  return provider;
}

/** Sets next-auth's token and leads back to the page of ours that needs it. */
async function setToken(service: Service, request: NextRequest, context: Context): Promise<Response> {
  const answer = await callNextAuth(service, request, context);
  return seeOther(samePath(request.nextUrl.searchParams.get("callbackUrl")), answer.headers.getSetCookie());
}

async function guarded(service: Service, answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer();
  } catch (error) {
    const requestId = `req_${randomUUID()}`;
    if (!(error instanceof Problem))
      service.log.error(
        { requestId, reason: (error as Error).message, stack: (error as Error).stack },
        "a sign-in request failed",
      );
    return toProblemResponse(error, requestId);
  }
}

export { handleGet as GET, handleHead as HEAD, handlePost as POST };
