import type { Caller, MintRequest, Presentation } from "../api-types";
import type { Action } from "../digest";
import { copyExactly, InexactValueError, type JsonObject, type JsonValue } from "../exact-json";
import { isSameCaller, resolvedCaller } from "./caller";
import { NotRun } from "./endings";
import type { McpCall } from "./mcp-call";
import type { GateParts } from "./parts";
import type { ApprovedSpec, CoreTool, Grants, Tier, ToolResult } from "./spec";
import { workflowOf } from "./workflow";

/** One call that has a caller and exact arguments: who asks for what, and how to run it. */
export type CallerCall<T extends Tier> = {
  mcp: McpCall;
  caller: Caller;
  /** What it is part of; approvals and what was read are counted by it. */
  workflow: string;
  action: Action;
  /** The very value that was digested, frozen. */
  args: JsonObject;
  /** @throws NotRun `caller_gone` where the caller is not (any more) the one who asked */
  verifyCaller: () => Promise<void>;
  /** Runs the handler with a fresh, mutable copy of the arguments (I3). */
  run: (grant: Grants[T]) => Promise<ToolResult>;
};

/** A call as far as a prompt has to know it. */
export type AskingCall = Omit<CallerCall<Tier>, "run">;

/** A call of a tool of tier 3. */
export type GuardedCall = CallerCall<3> & {
  // Nothing after this looks at the SDK's own context.
  parts: Omit<GateParts<never>, "settings"> & {
    settings: Omit<GateParts<never>["settings"], "resolveCaller" | "workflow">;
  };
  strict: boolean;
  terms: Pick<MintRequest, "requirements" | "ttlSeconds" | "actBySeconds" | "metadata">;
  present: () => Promise<Omit<Presentation, "checks">>;
  checks: () => Promise<Presentation["checks"]>;
  preconditions: () => Promise<Pick<MintRequest, "preconditions">>;
};

/**
 * Opens a call, or refuses it before anybody is asked: no verified caller, or arguments that JSON would alter.
 * @throws NotRun `no_caller`; InexactValueError
 */
export async function openCall<T extends Tier, Ctx>(
  parts: GateParts<Ctx>,
  { tool, handler }: CoreTool<T, Ctx>,
  { args, ctx, mcp }: { args: unknown; ctx: Ctx; mcp: McpCall },
): Promise<CallerCall<T>> {
  const { resolveCaller } = parts.settings;
  const caller = await resolvedCaller(resolveCaller, ctx);
  if (caller === undefined) throw new NotRun("no_caller");
  const exact = exactArguments(args);
  return {
    mcp,
    caller,
    workflow: workflowOf(parts, ctx, mcp, caller),
    action: { tool, arguments: exact },
    args: exact,
    async verifyCaller() {
      const now = await resolvedCaller(resolveCaller, ctx);
      if (now === undefined || !isSameCaller(now, caller)) throw new NotRun("caller_gone");
    },
    run: async (grant) => handler(structuredClone(exact), ctx, grant),
  };
}

/**
 * The same for a tool of tier 3.
 * @throws NotRun `no_caller`, `too_many_items`; InexactValueError
 */
export async function openGuarded<Ctx>(
  parts: GateParts<Ctx>,
  tool: CoreTool<3, Ctx>,
  call: { args: unknown; ctx: Ctx; mcp: McpCall },
): Promise<GuardedCall> {
  const opened = await openCall(parts, tool, call);
  const { spec } = tool;
  const { args } = opened;
  const { ctx } = call;
  throwIfTooMany(spec, args);
  return {
    ...opened,
    parts,
    strict: spec.strict === true,
    terms: termsOf(parts, spec),
    present: async () => spec.presentation(args, ctx),
    checks: async () => spec.checks?.(args, ctx),
    preconditions: async () =>
      spec.preconditions === undefined ? {} : { preconditions: await spec.preconditions(args, ctx) },
  };
}

const DEFAULT_MAX_ITEMS = 100;

function throwIfTooMany<Ctx>({ items, maxItems = DEFAULT_MAX_ITEMS }: ApprovedSpec<unknown, Ctx>, args: JsonObject) {
  const count = items?.(args) ?? 0;
  if (!(count <= maxItems)) throw new NotRun("too_many_items", { detail: `${count} / ${maxItems}` });
}

function termsOf<Ctx>({ settings }: GateParts<Ctx>, spec: ApprovedSpec<unknown, Ctx>): GuardedCall["terms"] {
  const requirements = { ...settings.requirements, ...spec.requirements };
  const ttlSeconds = spec.ttlSeconds ?? settings.ttlSeconds;
  const actBySeconds = spec.actBySeconds ?? settings.actBySeconds;
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
