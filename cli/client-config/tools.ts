import { z } from "zod";
import { CommandError } from "../output";

/** Names of tools by what a client should do with them. */
export type Sorted = { allow: string[]; ask: string[]; guarded: string[]; untold: string[] };

const toolSchema = z.looseObject({
  name: z.string().min(1),
  tier: z.unknown().optional(),
  _meta: z.looseObject({ "countersign/tier": z.unknown().optional() }).nullish(),
});
const listSchema = z.looseObject({ tools: z.array(z.unknown()) });
const answerSchema = z.looseObject({ result: listSchema });

/**
 * Reads a server's tool list: the answer to `tools/list`, its result, or the array in it; the tier is `tier` or `_meta["countersign/tier"]`.
 * Tier 0 is allowed, 1 and 2 are asked for, 3 is guarded. A tool without a tier counts as one of tier 3: the worst is not ruled out.
 * Errors: `bad_tools`, naming the place.
 */
export function sortTools(text: string): Sorted {
  const list = listIn(parse(text));
  const sorted: Sorted = { allow: [], ask: [], guarded: [], untold: [] };
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    const tool = toolSchema.safeParse(item).data;
    if (tool === undefined) throw fault(`tools[${index}].name is missing or no text`);
    if (seen.has(tool.name)) throw fault(`tools[${index}].name ${JSON.stringify(tool.name)} is there twice`);
    seen.add(tool.name);
    const tier = tool.tier ?? tool._meta?.["countersign/tier"];
    if (tier === 0) sorted.allow.push(tool.name);
    else if (tier === 1 || tier === 2) sorted.ask.push(tool.name);
    else if (tier === 3) sorted.guarded.push(tool.name);
    else if (tier === undefined) sorted.untold.push(tool.name);
    else throw fault(`tools[${index}].tier is not one of 0, 1, 2, 3; a tool of tier 4 is not registered at all`);
  }
  return sorted;
}

/** Tools that must never run unasked: those of tier 3, and those that do not say. */
export const dangerous = ({ guarded, untold }: Sorted): string[] => [...guarded, ...untold];

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
  return list.tools;
}

const fault = (message: string) => new CommandError("bad_tools", `This is no tool list: ${message}.`);
