import { Hono } from "hono";
import type { Service } from "@/lib/process";
import { securityHeaders } from "@/lib/requests/security-headers";
import { post as decision } from "./[id]/decision/post";
import { post as liftCooldown } from "./[id]/lift-cooldown/post";
import type { FormHandler } from "./[id]/posted-form";
import { post as stepUp } from "./[id]/sign-in-again/submit/post";
import { post as takeBack } from "./[id]/take-back/post";

const forms: Record<string, FormHandler> = {
  "/a/:id/decision": decision,
  "/a/:id/take-back": takeBack,
  "/a/:id/lift-cooldown": liftCooldown,
  "/a/:id/sign-in-again/submit": stepUp,
};

/**
 * The forms of an approval's page, answered by the process itself: what makes a decision passes through nothing but our own code, and
 * in a third of the time (decision 0012).
 */
export function createFormApp(service: Service): Hono {
  const app = new Hono();
  for (const [path, handler] of Object.entries(forms)) {
    app.post(path, async (c) => {
      const response = await handler(c.req.raw, { params: Promise.resolve({ id: c.req.param("id") ?? "" }) });
      for (const [name, value] of Object.entries(securityHeaders(service.config.url)))
        response.headers.set(name, value);
      return response;
    });
  }
  return app;
}

/** The requests that `createFormApp` answers. */
export function isForm(method: string | undefined, path: string): boolean {
  return method === "POST" && /^\/a\/[^/]+\/(decision|take-back|lift-cooldown|sign-in-again\/submit)$/.test(path);
}
