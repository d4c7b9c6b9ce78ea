import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { mintRequestSchema } from "@/lib/approvals/mint-request";
import {
  consumeAnswer,
  consumeBody,
  listAnswer,
  listQuery,
  mintAnswer,
  mintHeaders,
  outcomeBody,
  problemAnswer,
  statusAnswer,
  waitQuery,
  withdrawBody,
} from "./schemas";

/** Describes the routes from the schemas that validate and answer them, as OpenAPI 3.1 under `/openapi.json`. */
export function addOpenApi(api: OpenAPIHono, publicUrl: string): void {
  api.openAPIRegistry.registerComponent("securitySchemes", "apiKey", {
    type: "http",
    scheme: "bearer",
    description: "csk_<keyId>_<secret>",
  });
  for (const route of routes) api.openAPIRegistry.registerPath(route);
  api.get("/openapi.json", (c) =>
    c.json(
      api.getOpenAPI31Document({
        openapi: "3.1.0",
        info: { title: "Countersign", version: "1" },
        servers: [{ url: `${publicUrl}/api/v1` }],
        security: [{ apiKey: [] }],
      }),
    ),
  );
}

const json = (schema: z.ZodType, description: string) => ({ description, content: { "application/json": { schema } } });
const body = (schema: z.ZodType) => ({ required: true, content: { "application/json": { schema } } });
const refused = {
  default: {
    description: "Refused; `code` says why",
    content: { "application/problem+json": { schema: problemAnswer } },
  },
};
const id = z.object({ id: z.string().openapi({ example: "apr_0123456789abcdefghjkmnpqrs" }) });

const routes = [
  createRoute({
    method: "post",
    path: "/approvals",
    summary: "Ask for a person's approval",
    request: {
      headers: mintHeaders,
      body: body(mintRequestSchema),
    },
    responses: {
      201: json(mintAnswer, "Asked"),
      200: json(mintAnswer, "An equal approval is live already"),
      ...refused,
    },
  }),
  createRoute({
    method: "get",
    path: "/approvals",
    summary: "List this client's approvals, newest first",
    request: { query: listQuery },
    responses: { 200: json(listAnswer, "A page"), ...refused },
  }),
  createRoute({
    method: "get",
    path: "/approvals/{id}",
    summary: "Read an approval, waiting for its decision if asked to",
    request: { params: id, query: waitQuery },
    responses: { 200: json(statusAnswer, "Where it stands"), ...refused },
  }),
  createRoute({
    method: "post",
    path: "/approvals/{id}/consume",
    summary: "Take the right to run, once",
    request: { params: id, body: body(consumeBody) },
    responses: { 200: json(consumeAnswer, "Granted"), ...refused },
  }),
  createRoute({
    method: "post",
    path: "/approvals/{id}/outcome",
    summary: "Report what happened when it ran",
    request: { params: id, body: body(outcomeBody) },
    responses: { 200: json(statusAnswer, "Recorded"), ...refused },
  }),
  createRoute({
    method: "post",
    path: "/approvals/{id}/withdraw",
    summary: "Take the request back",
    request: { params: id, body: body(withdrawBody) },
    responses: { 200: json(statusAnswer, "Withdrawn"), ...refused },
  }),
];
