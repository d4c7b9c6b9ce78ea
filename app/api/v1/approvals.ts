import type { OpenAPIHono } from "@hono/zod-openapi";
import { authenticateKey } from "@/lib/api-keys/authenticate";
import { consume } from "@/lib/approvals/consume";
import { listForClient } from "@/lib/approvals/list-for-client";
import { mint } from "@/lib/approvals/mint";
import { mintRequestSchema } from "@/lib/approvals/mint-request";
import { reportOutcome } from "@/lib/approvals/report-outcome";
import { waitForDecision } from "@/lib/approvals/wait";
import { withdraw } from "@/lib/approvals/withdraw";
import { Problem } from "@/lib/problem";
import type { Service } from "@/lib/process";
import { readBody, validate } from "./read-body";
import { consumeBody, listQuery, mintHeaders, outcomeBody, waitQuery, withdrawBody } from "./schemas";

/** The machine API of section 6: each route authenticates, parses, calls one verb of the domain, and answers. */
export function addApprovalRoutes(api: OpenAPIHono, service: Service): void {
  api.post("/approvals", async (c) => {
    const key = await authenticateKey(service, c.req.raw.headers, "approvals:create");
    const request = await readBody(c.req.raw, mintRequestSchema);
    const { answer, how } = await mint(service, key, request, idempotencyKeyOf(c.req.raw.headers));
    service.metrics.countMint(how);
    service.traces.note({ "countersign.approval.id": answer.id, "countersign.mint.how": how });
    if (how === "replayed") c.header("Idempotency-Replayed", "true");
    return c.json(answer, how === "reused" ? 200 : 201);
  });

  api.get("/approvals", async (c) => {
    const key = await authenticateKey(service, c.req.raw.headers, "approvals:read");
    const { limit = 50, ...query } = validate(listQuery, queryOf(c.req.url));
    return c.json(await listForClient(service, key, { ...query, limit }));
  });

  api.get("/approvals/:id", async (c) => {
    const key = await authenticateKey(service, c.req.raw.headers, "approvals:read");
    const { wait = 0 } = validate(waitQuery, queryOf(c.req.url));
    return c.json(await waitForDecision(service, key, c.req.param("id"), wait, c.req.raw.signal));
  });

  api.post("/approvals/:id/consume", async (c) => {
    const key = await authenticateKey(service, c.req.raw.headers, "approvals:consume");
    return c.json(await consume(service, key, c.req.param("id"), await readBody(c.req.raw, consumeBody)));
  });

  api.post("/approvals/:id/outcome", async (c) => {
    const key = await authenticateKey(service, c.req.raw.headers, "approvals:consume");
    return c.json(await reportOutcome(service, key, c.req.param("id"), await readBody(c.req.raw, outcomeBody)));
  });

  api.post("/approvals/:id/withdraw", async (c) => {
    const key = await authenticateKey(service, c.req.raw.headers, "approvals:create");
    return c.json(await withdraw(service, key, c.req.param("id"), (await readBody(c.req.raw, withdrawBody)).reason));
  });
}

/** Errors: `invalid_request` for a key that is empty, too long or not printable ASCII. */
function idempotencyKeyOf(headers: Headers): string | undefined {
  const key = headers.get("idempotency-key") ?? undefined;
  return validate(mintHeaders, { "Idempotency-Key": key })["Idempotency-Key"];
}

/** Query parameters as an object. Errors: `invalid_request` where one stands twice. */
function queryOf(url: string): Record<string, string> {
  const pairs = [...new URL(url).searchParams];
  const query = Object.fromEntries(pairs);
  if (Object.keys(query).length !== pairs.length)
    throw new Problem("invalid_request", { detail: "A query parameter stands twice." });
  return query;
}
