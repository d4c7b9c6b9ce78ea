import { Hono } from "hono";
import type { Service } from "@/lib/process";
import { securityHeaders } from "@/lib/requests/security-headers";
import { approvalForms } from "./a/forms";
import { accountForms } from "./account/forms";
import { adminForms } from "./admin/forms";
import { signInForms } from "./signin/forms";

const forms = { ...approvalForms, ...accountForms, ...adminForms, ...signInForms };

/**
 * The forms of the pages, answered by the process itself: what decides or changes an account passes through nothing but our own code,
 * and in a third of the time (decision 0012).
 */
export function createFormApp(service: Service): Hono {
  const app = new Hono();
  for (const [path, handler] of Object.entries(forms)) {
    app.post(path, async (c) => {
      const response = await handler(c.req.raw, c.req.param() as Record<string, string>);
      for (const [name, value] of Object.entries(securityHeaders(service.config.url)))
        response.headers.set(name, value);
      return response;
    });
  }
  return app;
}

/** The requests that `createFormApp` answers. */
export function isForm(method: string | undefined, path: string): boolean {
  return method === "POST" && patterns.some((pattern) => pattern.test(path));
}

const patterns = Object.keys(forms).map((path) => new RegExp(`^${path.replaceAll(/:[a-z]+/gi, "[^/]+")}$`));
