import { randomUUID } from "node:crypto";
import { Problem, toProblemResponse } from "@/lib/problem";
import { getService, type Service } from "@/lib/process";
import { type Flash, flashCookie } from "@/lib/requests/flash";
import { readForm } from "@/lib/requests/read-form";
import { isSameOrigin } from "@/lib/requests/same-origin";
import { readSession } from "@/lib/sessions/read";
import type { PersonSession } from "@/lib/sessions/session";

export type RouteContext = { params: Promise<{ id: string }> };
export type FormHandler = (request: Request, context: RouteContext) => Promise<Response>;
export type PostedForm = { service: Service; id: string; session: PersonSession; form: URLSearchParams };

/**
 * What every form of an approval's page goes through before its verb: same origin (I1), a form, a session. Answers itself where one is
 * missing; signed out leads to the sign-in and back to the page, with nothing done.
 */
export async function receiveForm(
  request: Request,
  { params }: RouteContext,
  answer: (posted: PostedForm) => Promise<Response>,
): Promise<Response> {
  const service = getService();
  const { id } = await params;
  try {
    if (!isSameOrigin(request.headers, service.config.url)) throw new Problem("forbidden_origin");
    const form = await readForm(request);
    if (!form) throw new Problem("unsupported_media_type");
    const session = await readSession(service, request.headers);
    if (!session) return seeOther(`/signin?callbackUrl=${encodeURIComponent(`/a/${id}`)}`);
    return await answer({ service, id, session, form });
  } catch (error) {
    const requestId = `req_${randomUUID()}`;
    if (!(error instanceof Problem))
      service.log.error(
        { requestId, reason: (error as Error).message, stack: (error as Error).stack },
        "a form failed",
      );
    return toProblemResponse(error, requestId);
  }
}

/** RFC 9110 section 15.4.4: the form is done, read the page. */
export function seeOther(path: string, cookies: string[] = []): Response {
  const headers = new Headers({ Location: path, "Cache-Control": "no-store" });
  for (const cookie of cookies) headers.append("Set-Cookie", cookie);
  return new Response(null, { status: 303, headers });
}

/** Back to the approval's page with something to say. */
export async function backWith({ service, id, session }: PostedForm, flash: Flash): Promise<Response> {
  return seeOther(`/a/${id}`, [await flashCookie(service, { sid: session.sid, target: id }, flash)]);
}

export const missing = () => toProblemResponse(new Problem("not_found"), `req_${randomUUID()}`);
/** The form was not made for this session, page and purpose; nothing was done. */
export const staleForm = () => toProblemResponse(new Problem("stale_form"), `req_${randomUUID()}`);
