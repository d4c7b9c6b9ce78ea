import type { CallToolResult, ServerContext } from "@modelcontextprotocol/server";
import type { Caller, MintRequest, Presentation } from "./api-types";
import { resolvedCaller } from "./caller";
import type { Action } from "./digest";
import { NotRun } from "./endings";
import { copyExactly, InexactValueError, type JsonObject, type JsonValue } from "./exact-json";
import type { GateParts, Grant, GuardedHandler, GuardSpec } from "./gate";
import { type McpClientView, viewMcpClient } from "./mcp-client";

/** One call of a guarded tool: who asks for what, and how to describe and run it. */
export type GuardedCall = {
  parts: GateParts;
  ctx: ServerContext;
  caller: Caller;
  client: McpClientView;
  action: Action;
  /** Bounds and demands of the request, of the tool before the gate's own. */
  terms: Pick<MintRequest, "requirements" | "ttlSeconds" | "actBySeconds" | "metadata">;
  present: () => Promise<Presentation>;
  preconditions: () => Promise<Pick<MintRequest, "preconditions">>;
  run: (grant: Grant) => Promise<CallToolResult>;
};

/**
 * Opens a call, or refuses it before anybody is asked: no verified caller, no way to open a page, arguments that JSON would alter.
 * @throws NotRun `no_caller`, `no_elicitation` or `form_only`; InexactValueError
 */
export async function openCall<Args>(
  parts: GateParts,
  spec: GuardSpec<Args>,
  handler: GuardedHandler<Args>,
  args: Args,
  ctx: ServerContext,
): Promise<GuardedCall> {
  const caller = await resolvedCaller(parts.options.resolveCaller, ctx);
  if (caller === undefined) throw new NotRun("no_caller");
  const client = viewMcpClient(spec.server, ctx);
  if (client.elicitation !== "url") throw new NotRun(client.elicitation === "form" ? "form_only" : "no_elicitation");
  const exact = exactArguments(args);
  // One frozen copy is described and digested; the handler gets a fresh, mutable copy of that very value (I3).
  const described = exact as unknown as Args;
  return {
    parts,
    ctx,
    caller,
    client,
    action: { tool: spec.tool, arguments: exact },
    terms: termsOf(parts, spec),
    present: async () => spec.presentation(described, ctx),
    preconditions: async () =>
      spec.preconditions === undefined ? {} : { preconditions: await spec.preconditions(described, ctx) },
    run: async (grant) => handler(structuredClone(exact) as unknown as Args, ctx, grant),
  };
}

function termsOf<Args>({ options }: GateParts, spec: GuardSpec<Args>): GuardedCall["terms"] {
  const requirements = { ...options.requirements, ...spec.requirements };
  const ttlSeconds = spec.ttlSeconds ?? options.ttlSeconds;
  const actBySeconds = spec.actBySeconds ?? options.actBySeconds;
  return {
    ...(Object.keys(requirements).length === 0 ? {} : { requirements }),
    ...(ttlSeconds === undefined ? {} : { ttlSeconds }),
    ...(actBySeconds === undefined ? {} : { actBySeconds }),
    ...(spec.metadata === undefined ? {} : { metadata: spec.metadata }),
  };
}

function exactArguments(args: unknown): JsonObject {
  const exact = copyExactly(args);
  if (!isObject(exact)) throw new InexactValueError("", "is not an object");
  return exact;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
