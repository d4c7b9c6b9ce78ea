import fc from "fast-check";
import { headersOf, mostly, oddTexts } from "./openapi-arbitrary-headers";
import { type Known, type Schema, stringsOf, valuesOf, write } from "./openapi-arbitrary-json";
import { damages, mutate, mutations, toBytes } from "./openapi-arbitrary-mutation";

export type Media = { content?: Record<string, { schema: Schema }> };
export type Operation = {
  parameters?: { name: string; in: "path" | "query" | "header"; required?: boolean; schema: Schema }[];
  requestBody?: Media;
  responses: Record<string, Media>;
};
export type OpenApi = { paths: Record<string, Record<string, Operation>> };

/** One request as it will be sent: `path` with its query, the header values as Latin-1. */
export type FuzzRequest = {
  /** `post /approvals/{id}/consume`; its method may be another than the one described. */
  operation: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer | undefined;
};

export type Senders = {
  /** Values of `Authorization` that are let in. */
  good: string[];
  bad: string[];
};

/**
 * Requests to every operation that the document describes: of the described form, of that form but for one thing, and without any. `known`
 * are values that lead somewhere, for an operation.
 */
export function requestsOf(document: OpenApi, senders: Senders, known: (operation: string) => Known) {
  const each = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => requestsTo(`${method} ${path}`, operation, senders, known)),
  );
  return fc.oneof(...each);
}

function requestsTo(
  operation: string,
  { parameters = [], requestBody }: Operation,
  senders: Senders,
  knownTo: (operation: string) => Known,
): fc.Arbitrary<FuzzRequest> {
  const known = knownTo(operation);
  const [method = "", template = ""] = operation.split(" ");
  const inPath = parameters.filter((each) => each.in === "path");
  const steps = fc.tuple(...inPath.map(({ name, schema }) => stepsOf(known[name] ?? [], schema)));
  return fc
    .record({
      method: mostly(
        method.toUpperCase(),
        fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"),
        30,
      ),
      path: steps.map((values) =>
        inPath.reduce((path, { name }, i) => path.replace(`{${name}}`, values[i] ?? ""), template),
      ),
      query: queriesOf(
        parameters.filter((each) => each.in === "query"),
        known,
      ),
      headers: headersOf(
        parameters.filter((each) => each.in === "header"),
        known,
        senders,
        requestBody !== undefined,
      ),
      body: bodiesOf(requestBody?.content?.["application/json"]?.schema, known),
    })
    .map(({ method, path, query, headers, body }) => ({
      operation,
      method,
      path: query === "" ? path : `${path}?${query}`,
      headers,
      body: method === "GET" || method === "HEAD" ? undefined : body,
      [fc.toStringMethod]: () => describeRequest({ operation, method, path: `${path}?${query}`, headers, body }),
    }));
}

/** Short enough for a report, long enough to send it again. */
export function describeRequest({ method, path, headers, body }: FuzzRequest): string {
  const text = body?.toString("latin1") ?? "";
  const shown = text.length > 1_500 ? `${text.slice(0, 1_500)}… (${text.length} bytes)` : text;
  return `${method} ${path.slice(0, 500)} ${JSON.stringify(headers)} ${JSON.stringify(shown)}`;
}

function stepsOf(known: unknown[], schema: Schema): fc.Arbitrary<string> {
  const own = fc.constantFrom(...(known.length > 0 ? known.map(String) : ["x"]));
  return fc.oneof(
    { weight: 12, arbitrary: own },
    { weight: 1, arbitrary: stringsOf({ ...schema, minLength: 1 }).map((text) => encodeURIComponent(text) || "x") },
    { weight: 1, arbitrary: oddTexts.map((text) => text || "x") },
    { weight: 1, arbitrary: fc.tuple(own, oddTexts).map(([id, odd]) => `${id.slice(0, -1)}${odd}`) },
    { weight: 1, arbitrary: own.map((id) => id.toUpperCase()) },
  );
}

function queriesOf(parameters: NonNullable<Operation["parameters"]>, known: Known): fc.Arbitrary<string> {
  const each = parameters.map(({ name, schema }) => {
    const valid = valuesOf(schema, known, name).map((node) => encodeURIComponent(String(JSON.parse(write(node)))));
    const one = fc.oneof({ weight: 9, arbitrary: valid }, { weight: 1, arbitrary: oddTexts });
    return fc.oneof(
      fc.constant([]),
      one.map((value) => [`${name}=${value}`]),
    );
  });
  const extra = mostly(
    [],
    fc
      .tuple(fc.constantFrom("extra", "wait", "limit", "__proto__", "%ff", ""), oddTexts)
      .map(([name, value]) => [`${name}=${value}`]),
    12,
  );
  return fc.tuple(extra, ...each).map((parts) => parts.flat().join("&"));
}

function bodiesOf(schema: Schema | undefined, known: Known): fc.Arbitrary<Buffer | undefined> {
  const raw = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
  if (!schema) return mostly<Buffer | undefined>(undefined, raw, 10);
  const valid = valuesOf(schema, known);
  return fc.oneof(
    { weight: 6, arbitrary: valid.map((node) => Buffer.from(write(node))) },
    {
      weight: 5,
      arbitrary: fc.tuple(valid, mutations).map(([node, mutation]) => Buffer.from(write(mutate(node, mutation)))),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(valid, mutations, damages)
        .map(([node, mutation, damage]) => toBytes(mutate(node, mutation), damage)),
    },
    { weight: 1, arbitrary: raw },
    { weight: 1, arbitrary: fc.string({ maxLength: 200, unit: "binary" }).map((text) => Buffer.from(text)) },
  );
}
