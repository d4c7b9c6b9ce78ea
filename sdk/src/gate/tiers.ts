import { optionalWithin } from "./options";
import type { ApprovedSpec, Tier, UntrustedReadSpec, WriteSpec } from "./spec";

/** `ToolAnnotations` of MCP: hints that MCP clients must not trust, and that many read all the same. */
export type Annotations = {
  title?: string | undefined;
  readOnlyHint?: boolean | undefined;
  destructiveHint?: boolean | undefined;
  idempotentHint?: boolean | undefined;
  openWorldHint?: boolean | undefined;
};

/** Where `tools/list` names the tier, for `countersign client-config` and whoever else asks. */
export const TIER_META_KEY = "countersign/tier";

const HINTS = {
  0: { readOnlyHint: true, openWorldHint: false },
  1: { readOnlyHint: true, openWorldHint: true },
  2: { readOnlyHint: false, destructiveHint: false },
  3: { readOnlyHint: false, destructiveHint: true },
} as const;

/** What else an author may say of a tool of each tier. */
const FREE_HINTS: Readonly<Record<0 | 1 | 2 | 3, readonly string[]>> = {
  0: ["idempotentHint", "openWorldHint"],
  1: ["idempotentHint"],
  2: ["idempotentHint", "openWorldHint"],
  3: ["idempotentHint", "openWorldHint"],
};

/**
 * The annotations of a tool of this tier, with what its author says beside.
 * @throws TypeError for tier 4, for what is no tier, and for an annotation that contradicts the tier
 */
export function annotationsFor(tool: string, tier: Tier, said: Annotations = {}): Annotations {
  if (tier === 4) throw new TypeError(`${tool}: a tool of tier 4 is never for agents, so it cannot be registered`);
  if (!(tier in HINTS)) throw new TypeError(`${tool}: tier must be one of 0, 1, 2, 3, 4`);
  const hints: Annotations = HINTS[tier];
  for (const [name, value] of Object.entries(said)) {
    if (name === "title" || value === undefined || FREE_HINTS[tier].includes(name)) continue;
    if (hints[name as keyof Annotations] !== value)
      throw new TypeError(`${tool}: the annotation ${name}: ${value} contradicts tier ${tier}`);
  }
  return { ...hints, ...said };
}

/** Without members that are there and undefined, which the SDKs' types do not take. */
export function definedOnly(annotations: Annotations): {
  [Name in keyof Annotations]?: NonNullable<Annotations[Name]>;
} {
  return Object.fromEntries(Object.entries(annotations).filter(([, value]) => value !== undefined));
}

/** @throws RangeError for a figure outside its bounds, TypeError for a spec that its tier cannot have */
export function checkSpec(tool: string, tier: Tier, spec: object): void {
  const named = (name: string) => `${tool}: ${name}`;
  if (tier === 1) {
    const { maxResultCharacters } = spec as UntrustedReadSpec<unknown>;
    optionalWithin(named("maxResultCharacters"), maxResultCharacters, 100, 1_000_000);
  }
  if (tier === 2) optionalWithin(named("repeatSeconds"), (spec as WriteSpec<unknown, unknown>).repeatSeconds, 0, 3600);
  if (tier !== 3) return;
  const { presentation, ttlSeconds, actBySeconds, maxItems } = spec as ApprovedSpec<unknown, unknown>;
  if (typeof presentation !== "function") throw new TypeError(named("a tool of tier 3 needs a presentation"));
  optionalWithin(named("ttlSeconds"), ttlSeconds, 10, 86_400);
  optionalWithin(named("actBySeconds"), actBySeconds, 10, 3600);
  optionalWithin(named("maxItems"), maxItems, 1, 10_000);
}
