import { isExactDouble } from "./exact-number";
import { refuseForbiddenKey, refuseInexactText } from "./exact-text";
import { type JsonFault, type JsonPath, JsonRefusal, toFault } from "./fault";
import { isPlainContainer } from "./plain";

/**
 * Finds the first reason why a value that was not read by `parseStrict` is not exactly a JSON value, or null when it is one.
 *
 * The same rules, as far as they can still be seen: `malformed` for what JSON cannot hold (undefined, functions, symbols,
 * big integers, cycles, sparse arrays, accessors, class instances), `number_not_exact` for NaN, infinities, negative zero and
 * integers beyond ±(2^53−1), and the text and key faults. `maxDepth` (default 32) as in `parseStrict`.
 */
export function checkExact(value: unknown, options: { readonly maxDepth?: number } = {}): JsonFault | null {
  const walk: Walk = { path: [], ancestors: [], maxDepth: options.maxDepth ?? 32 };
  try {
    visit(value, walk);
    return null;
  } catch (error) {
    return toFault(error, walk.path);
  }
}

type Walk = { readonly path: JsonPath; readonly ancestors: object[]; readonly maxDepth: number };

function visit(value: unknown, walk: Walk): void {
  if (typeof value === "string") refuseInexactText(value);
  else if (typeof value === "number") refuseInexactDouble(value);
  else if (typeof value === "object" && value !== null) visitContainer(value, walk);
  else if (typeof value !== "boolean" && value !== null) {
    throw new JsonRefusal("malformed", `JSON has no value of type ${typeof value}.`);
  }
}

function visitContainer(value: object, walk: Walk): void {
  if (walk.ancestors.includes(value)) throw new JsonRefusal("malformed", "A value must not contain itself.");
  if (walk.ancestors.length >= walk.maxDepth) {
    throw new JsonRefusal("too_deep", `At most ${walk.maxDepth} arrays and objects may lie inside one another.`);
  }
  if (!isPlainContainer(value))
    throw new JsonRefusal("malformed", "Only plain objects and arrays without holes are JSON.");
  walk.ancestors.push(value);
  if (Array.isArray(value)) for (const [index, element] of value.entries()) visitAt(index, element, walk);
  else for (const [key, member] of Object.entries(value)) visitAt(key, member, walk);
  walk.ancestors.pop();
}

function visitAt(step: string | number, value: unknown, walk: Walk): void {
  // A key that is not exact text cannot be written in a pointer, so it is judged before it joins the path.
  if (typeof step === "string") refuseInexactText(step);
  walk.path.push(step);
  if (typeof step === "string") refuseForbiddenKey(step);
  visit(value, walk);
  walk.path.pop();
}

function refuseInexactDouble(value: number): void {
  if (isExactDouble(value)) return;
  throw new JsonRefusal(
    "number_not_exact",
    "A number must be finite, not negative zero, and within ±(2^53−1) when it is an integer.",
  );
}
