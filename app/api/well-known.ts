import type { OpenAPIHono } from "@hono/zod-openapi";
import { signingAlg } from "@/lib/keys/signing-key";
import type { Service } from "@/lib/process";

/** The public keys and what a client must know to find its way (section 6). */
export function addWellKnown(app: OpenAPIHono, service: Service): void {
  app.get("/.well-known/jwks.json", (c) => {
    c.header("Cache-Control", "public, max-age=300");
    return c.json({ keys: service.keys.published() });
  });
  app.get("/.well-known/countersign", (c) => {
    const { url } = service.config;
    c.header("Cache-Control", "public, max-age=300");
    return c.json({
      issuer: service.issuer,
      apiVersion: "1",
      endpoints: {
        approvals: `${url}/api/v1/approvals`,
        openapi: `${url}/api/v1/openapi.json`,
        jwks: `${url}/.well-known/jwks.json`,
        inbox: `${url}/inbox`,
      },
      algs: [signingAlg],
    });
  });
}
