import { z } from "zod";
import { CommandError } from "../output";

/** Names of tools by what a client should do with them. `odd` are among the others: clients may write these names differently. */
export type Sorted = { allow: string[]; ask: string[]; guarded: string[]; untold: string[]; odd: string[] };

const toolSchema = z.looseObject({
  name: z.string().min(1),
  tier: z.unknown().optional(),
  _meta: z.looseObject({ "countersign/tier": z.unknown().optional() }).nullish(),
});
const listSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.unknown().optional() });
const answerSchema = z.looseObject({ result: listSchema });

/**
 * Reads a server's tool list: the answer to `tools/list`, its result, or the array in it; the tier is `tier` or `_meta["countersign/tier"]`.
 * Tier 0 is allowed, 1 and 2 are asked for, 3 is guarded. A tool without a tier counts as one of tier 3: the worst is not ruled out. A tool
 * of tier 0 is asked for where its name is odd: in a list of what runs unasked it might stand for another one.
 * Errors: `bad_tools`, naming the place.
 */
export function sortTools(text: string): Sorted {
  const list = listIn(parse(text));
  const sorted: Sorted = { allow: [], ask: [], guarded: [], untold: [], odd: [] };
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    const tool = toolSchema.safeParse(item).data;
    if (tool === undefined) throw fault(`tools[${index}].name is missing or no text`);
    const { name } = tool;
    if (seen.has(name)) throw fault(`tools[${index}].name ${JSON.stringify(name)} is there twice`);
    seen.add(name);
    const isOdd = !plainTool.test(name);
    if (isOdd) sorted.odd.push(name);
    sorted[groupOf(tierOf(tool, index), isOdd)].push(name);
  }
  return sorted;
}

/** Tools that must never run unasked: those of tier 3, and those that do not say. */
export const dangerous = ({ guarded, untold }: Sorted): string[] => [...guarded, ...untold];

/** What Countersign takes as a tool's name; it holds no character that any client reads as a wildcard or a separator. */
const plainTool = /^[A-Za-z0-9_.-]{1,128}$/;

function tierOf({ tier: said, _meta }: z.infer<typeof toolSchema>, index: number): 0 | 1 | 2 | 3 | undefined {
  const meta = _meta?.["countersign/tier"];
  if (said !== undefined && meta !== undefined && said !== meta)
    throw fault(`tools[${index}].tier and its _meta["countersign/tier"] are not the same`);
  const tier = said ?? meta;
  if (tier === undefined || tier === 0 || tier === 1 || tier === 2 || tier === 3) return tier;
  const field = said === undefined ? '_meta["countersign/tier"]' : "tier";
  throw fault(`tools[${index}].${field} is not one of 0, 1, 2, 3; a tool of tier 4 is not registered at all`);
}

function groupOf(tier: 0 | 1 | 2 | 3 | undefined, isOdd: boolean): "allow" | "ask" | "guarded" | "untold" {
  if (tier === undefined) return "untold";
  if (tier === 3) return "guarded";
  return tier === 0 && !isOdd ? "allow" : "ask";
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw fault("it is not JSON");
  }
}

function listIn(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  const list = answerSchema.safeParse(value).data?.result ?? listSchema.safeParse(value).data;
  if (list === undefined) throw fault("it has no array `tools`");
  if (typeof list.nextCursor === "string")
    throw fault("it has a nextCursor, so it is one page of several: put the tools of all pages into one array");
  return list.tools;
}

const fault = (message: string) => new CommandError("bad_tools", `This is no tool list: ${message}.`);
