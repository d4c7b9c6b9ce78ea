import { z } from "zod";
import { problems } from "@/lib/problem";
import type { FuzzRequest, OpenApi } from "./openapi-arbitrary";
import type { Schema } from "./openapi-arbitrary-json";

/**
 * What is wrong with an answer to a request of this document, or undefined: a 500, a status or media type that the operation does not have,
 * a body with a field that is not described, a problem whose code is not one of ours.
 */
export function createAnswerJudge(
  document: OpenApi,
): (request: FuzzRequest, answer: Response) => Promise<string | undefined> {
  const validators = new Map<Schema, z.ZodType>();
  const validatorOf = (schema: Schema) => {
    const known = validators.get(schema) ?? z.fromJSONSchema(closed(schema) as z.core.JSONSchema.JSONSchema);
    validators.set(schema, known);
    return known;
  };

  return async ({ operation, method }, answer) => {
    if (answer.status >= 500) return `${answer.status}: ${await answer.text()}`;
    for (const name of ["x-request-id", "cache-control", "x-content-type-options"])
      if (!answer.headers.has(name)) return `no ${name}`;
    const text = await answer.text();
    if (method === "HEAD") return text === "" ? undefined : "HEAD was answered with a body";
    const body: unknown = JSON.parse(text);
    if (!answer.ok) {
      const fault = faultOfProblem(answer, body as Record<string, unknown>);
      if (fault) return fault;
    }
    const described = document.paths[operation.split(" ")[1] ?? ""]?.[method.toLowerCase()];
    if (!described)
      return answer.status === 405 || answer.status === 404
        ? undefined
        : `${answer.status} for a method that is not described`;
    const { responses } = described;
    const media = responses[String(answer.status)] ?? (answer.ok ? undefined : responses["default"]);
    const schema = media?.content?.[answer.headers.get("content-type") ?? ""]?.schema;
    if (!schema) return `${answer.status} ${answer.headers.get("content-type")} is not described: ${text}`;
    const result = validatorOf(schema).safeParse(body);
    return result.success ? undefined : `${answer.status} is not as described: ${result.error.message} ${text}`;
  };
}

function faultOfProblem(answer: Response, body: Record<string, unknown>): string | undefined {
  const code = body["code"];
  if (answer.headers.get("content-type") !== "application/problem+json") return "a refusal is no problem+json";
  if (typeof code !== "string" || !Object.hasOwn(problems, code)) return `the code ${String(code)} is none of ours`;
  const { status } = problems[code as keyof typeof problems];
  return status === answer.status && status === body["status"]
    ? undefined
    : `${code} was answered with ${answer.status}`;
}

/** The schema with every object closed: what it does not describe, an answer does not hold. */
function closed(schema: Schema): Schema {
  const { anyOf, items, properties } = schema;
  return {
    ...schema,
    ...(anyOf ? { anyOf: anyOf.map(closed) } : {}),
    ...(items ? { items: closed(items) } : {}),
    ...(properties
      ? {
          properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, closed(each)])),
          additionalProperties: false,
        }
      : {}),
  };
}
