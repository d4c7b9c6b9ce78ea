import { randomUUID } from "node:crypto";
import { Problem, toProblemResponse } from "@/lib/problem";
import { getService, type Service } from "@/lib/process";
import { readForm } from "@/lib/requests/read-form";
import { isSameOrigin } from "@/lib/requests/same-origin";
import { type CsrfBinding, isCsrfToken } from "@/lib/sessions/csrf";
import { readSession } from "@/lib/sessions/read";
import type { PersonSession } from "@/lib/sessions/session";
import { refusalPage } from "./refusal-page";

/** Answers a posted form; `params` are the named parts of its path. */
export type FormHandler = (request: Request, params: Record<string, string>) => Promise<Response>;
export type Posted = { service: Service; session: PersonSession; form: URLSearchParams };

/**
 * What every form of a signed-in person goes through before its verb: same origin (I1), a form, a session. Answers itself where one is
 * missing; signed out leads to the sign-in and back to `page`, with nothing done. A browser gets a page about each refusal, a script a problem.
 */
export async function receiveForm(
  request: Request,
  page: string,
  answer: (posted: Posted) => Promise<Response>,
): Promise<Response> {
  const service = getService();
  try {
    if (!isSameOrigin(request.headers, service.config.url)) throw new Problem("forbidden_origin");
    const form = await readForm(request);
    if (!form) throw new Problem("unsupported_media_type");
    const session = await readSession(service, request.headers);
    if (!session) return seeOther(`/signin?callbackUrl=${encodeURIComponent(page)}`);
    return await answer({ service, session, form });
  } catch (error) {
    const requestId = `req_${randomUUID()}`;
    if (!(error instanceof Problem))
      service.log.error(
        { requestId, reason: (error as Error).message, stack: (error as Error).stack },
        "a form failed",
      );
    const problem = toProblemResponse(error, requestId);
    return wantsPage(request) ? await refusalPage(request, problem, page) : problem;
  }
}

/** Whether a person's browser waits for the answer, and not a script of a page. */
export function wantsPage(request: Request): boolean {
  return request.headers.get("accept")?.includes("text/html") ?? false;
}

/** Refuses a form that was not made for this session, purpose and target. Errors: `stale_form`. */
export function requireCsrf({ service, session, form }: Posted, purpose: CsrfBinding["purpose"], target: string): void {
  // Nothing that is stored is named with U+0000, so no page has a form for it, and no query is to ask for it.
  const isNameable = !target.includes("\u0000");
  if (!isNameable || !isCsrfToken(service.secrets, { sid: session.sid, purpose, target }, form.get("csrf") ?? ""))
    throw new Problem("stale_form");
}

/** RFC 9110 section 15.4.4: the form is done, read the page. */
export function seeOther(path: string, cookies: string[] = []): Response {
  const headers = new Headers({ Location: path, "Cache-Control": "no-store" });
  for (const cookie of cookies) headers.append("Set-Cookie", cookie);
  return new Response(null, { status: 303, headers });
}
