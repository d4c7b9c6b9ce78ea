import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Service } from "@/lib/process";
import { readiness } from "@/lib/service/readiness";

/** `/healthz`: the process answers. `/readyz`: it can do its work; 503 with the names of what fails. */
export function addHealth(app: OpenAPIHono, service: Service): void {
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  app.get("/readyz", async (c) => {
    const checks = await readiness(service);
    const isReady = Object.values(checks).every((state) => state === "ok");
    return c.json({ status: isReady ? "ok" : "not_ready", checks }, isReady ? 200 : 503);
  });
}
