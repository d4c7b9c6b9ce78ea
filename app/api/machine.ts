import { randomUUID } from "node:crypto";
import { OpenAPIHono } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import { isApprovalId } from "@/lib/approvals/id";
import { routeLabel } from "@/lib/metrics/route-label";
import { isConnectionLoss, Problem, type ProblemCode, toProblemResponse } from "@/lib/problem";
import type { Service } from "@/lib/process";
import { addHealth } from "./health";
import { addApprovalRoutes } from "./v1/approvals";
import { addOpenApi } from "./v1/openapi";
import { addWellKnown } from "./well-known";

/** What the process answers itself, before Next: the machine API, `/.well-known/*`, `/healthz` and `/readyz` (section 11). */
export function createMachineApp(service: Service): OpenAPIHono {
  const app = new OpenAPIHono();
  app.use(async (c, next) => {
    const requestId = `req_${randomUUID()}`;
    await next();
    // Answers are built fresh; an error's answer has its id already.
    if (!c.res.headers.has("x-request-id")) c.res.headers.set("X-Request-Id", requestId);
    if (!c.res.headers.has("cache-control")) c.res.headers.set("Cache-Control", "no-store");
    c.res.headers.set("X-Content-Type-Options", "nosniff");
  });
  app.use("/api/v1/*", traced(service));
  app.onError((error) => {
    const requestId = `req_${randomUUID()}`;
    const response = toProblemResponse(error, requestId);
    service.metrics.countProblem(codeOf(error));
    if (response.status >= 500)
      service.log.error(
        { requestId, reason: error.message, cause: causeOf(error), stack: error.stack },
        "a request failed",
      );
    return response;
  });
  app.notFound(() => toProblemResponse(new Problem("not_found"), `req_${randomUUID()}`));
  app.route("/api/v1", versionOne(service));
  addWellKnown(app, service);
  addHealth(app, service);
  return app;
}

/** The paths that `createMachineApp` answers; all others are pages. */
export function isMachinePath(path: string): boolean {
  return path === "/healthz" || path === "/readyz" || path.startsWith("/api/v1/") || path.startsWith("/.well-known/");
}

/** A span of each call, by the conventions of OpenTelemetry; the caller's trace goes on where it sends a `traceparent`. */
function traced({ traces }: Service): MiddlewareHandler {
  return (c, next) => {
    const { method, headers } = c.req.raw;
    const route = routeLabel(c.req.path);
    const id = c.req.path.split("/")[4] ?? "";
    const attributes = {
      "http.request.method": method,
      "http.route": route,
      // Only what cannot be anything else: a path is the caller's text.
      ...(isApprovalId(id) ? { "countersign.approval.id": id } : {}),
    };
    const options = { kind: "server", parent: headers.get("traceparent"), attributes } as const;
    return traces.span(`${method} ${route}`, options, async () => {
      await next();
      const { status } = c.res;
      const code = c.error && codeOf(c.error);
      traces.note({
        "http.response.status_code": status,
        ...(code ? { "countersign.problem.code": code } : {}),
        ...(status >= 500 ? { "error.type": code ?? String(status) } : {}),
      });
    });
  };
}

/** The code that a refusal, or a failure of ours, is answered with. */
const codeOf = (error: Error): ProblemCode =>
  error instanceof Problem ? error.code : isConnectionLoss(error) ? "unavailable" : "internal";

function versionOne(service: Service): OpenAPIHono {
  const api = new OpenAPIHono();
  addApprovalRoutes(api, service);
  addOpenApi(api, service.config.url);
  for (const path of [
    "/approvals",
    "/approvals/:id",
    "/approvals/:id/consume",
    "/approvals/:id/outcome",
    "/approvals/:id/withdraw",
  ]) {
    api.all(path, () => {
      throw new Problem("method_not_allowed");
    });
  }
  return api;
}

const causeOf = (error: Error) => (error.cause instanceof Error ? error.cause.message : undefined);
