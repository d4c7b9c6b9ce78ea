import { createHash, timingSafeEqual } from "node:crypto";
import { Problem, toProblemResponse } from "@/lib/problem";
import type { Service } from "@/lib/process";

/**
 * `GET /metrics`. Where METRICS_TOKEN is set it takes `Authorization: Bearer METRICS_TOKEN`; where it is not, whoever reaches a listener
 * without pages may read it, and on one that answers people too it is a path that does not exist.
 */
export async function answerMetrics(
  service: Service,
  request: Request,
  { isOwnListener }: { isOwnListener: boolean },
): Promise<Response> {
  const { metricsToken } = service.config;
  const isAllowed = isOwnListener
    ? metricsToken === undefined || hasToken(request, metricsToken)
    : hasToken(request, metricsToken);
  if (request.method !== "GET" || !isAllowed) return toProblemResponse(new Problem("not_found"), crypto.randomUUID());
  const { contentType, body } = await service.metrics.scrape();
  return new Response(body, { headers: { "Content-Type": contentType, "Cache-Control": "no-store" } });
}

/** Compared as digests, so in constant time whatever the length. */
function hasToken(request: Request, token: string | undefined): boolean {
  const presented = /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "")?.[1];
  if (token === undefined || presented === undefined) return false;
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(presented), digest(token));
}
