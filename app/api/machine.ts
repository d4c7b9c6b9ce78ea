import { randomUUID } from "node:crypto";
import { OpenAPIHono } from "@hono/zod-openapi";
import { routeLabel } from "@/lib/metrics/route-label";
import { Problem, toProblemResponse } from "@/lib/problem";
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
  app.use("/api/v1/*", (c, next) => {
    const { method, url, headers } = c.req.raw;
    const route = routeLabel(url.slice(new URL(url).origin.length));
    const attributes = { "http.request.method": method, "http.route": route };
    return service.traces.span(
      `${method} ${route}`,
      { kind: "server", parent: headers.get("traceparent"), attributes },
      next,
    );
  });
  app.onError((error) => {
    const requestId = `req_${randomUUID()}`;
    const response = toProblemResponse(error, requestId);
    service.metrics.countProblem(
      error instanceof Problem ? error.code : response.status === 503 ? "unavailable" : "internal",
    );
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
