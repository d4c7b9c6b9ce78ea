import type { AnyTool } from "./guard";
import type { Tier } from "./spec";
import { type Annotations, annotationsFor, checkSpec, TIER_META_KEY } from "./tiers";

type Said = {
  tool: string;
  tier: Tier;
  annotations?: Annotations | undefined;
  _meta?: Record<string, unknown> | undefined;
};

/** What either SDK is told of a tool when it is registered. */
export type Registration<Ctx> = { tool: AnyTool<Ctx>; annotations: Annotations; _meta: Record<string, unknown> };

const TOOL_NAME = /^[A-Za-z0-9_.-]{1,128}$/;

/**
 * Checks a tool's spec and forgets its types: past this point arguments are what the SDK has validated.
 * @throws TypeError for a name outside `[A-Za-z0-9_.-]{1,128}`, tier 4, a contradiction; RangeError for a figure outside its bounds
 */
export function registrationOf<Ctx>(spec: Said, handler: (...given: never[]) => unknown): Registration<Ctx> {
  const { tool, tier } = spec;
  if (!TOOL_NAME.test(tool))
    throw new TypeError(`${JSON.stringify(tool)} is no tool name of the form [A-Za-z0-9_.-]{1,128}`);
  const annotations = annotationsFor(tool, tier, spec.annotations);
  checkSpec(tool, tier, spec);
  return {
    tool: { tool, tier, spec, handler } as unknown as AnyTool<Ctx>,
    annotations,
    _meta: { ...spec._meta, [TIER_META_KEY]: tier },
  };
}
