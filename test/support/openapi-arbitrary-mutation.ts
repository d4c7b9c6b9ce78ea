import fc from "fast-check";
import { type Node, write } from "./openapi-arbitrary-json";
import { oddities } from "./openapi-arbitrary-oddities";

/** One thing that is wrong with a body which is otherwise of its schema. `at` names the place, counted over all values. */
export type Mutation = { at: number } & (
  | { kind: "remove" | "twice" }
  | { kind: "replace"; by: keyof typeof oddities }
  | { kind: "add" | "rename"; name: string }
  | { kind: "bound"; by: -1 | 0 | 1; isUpper: boolean }
);

const names = [
  "extra",
  "",
  "__proto__",
  "constructor",
  "toString",
  "toJSON",
  "then",
  "a\u0000b",
  "\ud800",
  "~0/~1",
  "iss",
];
const places = fc.nat({ max: 500 });

export const mutations: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({ at: places, kind: fc.constantFrom("remove" as const, "twice" as const) }),
  {
    weight: 3,
    arbitrary: fc.record({
      at: places,
      kind: fc.constant("replace" as const),
      by: fc.constantFrom(...(Object.keys(oddities) as (keyof typeof oddities)[])),
    }),
  },
  fc.record({
    at: places,
    kind: fc.constantFrom("add" as const, "rename" as const),
    name: fc.constantFrom(...names),
  }),
  fc.record({
    at: places,
    kind: fc.constant("bound" as const),
    by: fc.constantFrom(-1 as const, 0 as const, 1 as const),
    isUpper: fc.boolean(),
  }),
);

/** The value with this one thing wrong with it; where the mutation does not fit its place, as it was. */
export function mutate(root: Node, mutation: Mutation): Node {
  const places = placesIn(root);
  const place = places[mutation.at % places.length];
  if (!place) return root;
  return place.put(changed(place.node, mutation));
}

type Place = {
  node: Node;
  /** The whole value with something else at this place, or, with an empty list, nothing. */
  put(replacements: Replacement[]): Node;
};
/** A name only where the place is a member of an object: another than its own. */
type Replacement = { node: Node; name?: string };

function placesIn(root: Node): Place[] {
  const found: Place[] = [{ node: root, put: ([first]) => first?.node ?? { text: "" } }];
  for (const { node, put } of found) {
    if ("items" in node)
      node.items.forEach((item, i) => {
        found.push({
          node: item,
          put: (by) => put([{ node: { ...node, items: node.items.toSpliced(i, 1, ...by.map((each) => each.node)) } }]),
        });
      });
    if ("members" in node)
      node.members.forEach(([name, member], i) => {
        found.push({
          node: member,
          put: (by) => {
            const members = by.map((each): [string, Node] => [each.name ?? name, each.node]);
            return put([{ node: { ...node, members: node.members.toSpliced(i, 1, ...members) } }]);
          },
        });
      });
  }
  return found;
}

function changed(node: Node, mutation: Mutation): Replacement[] {
  switch (mutation.kind) {
    case "remove":
      return [];
    case "twice":
      return [{ node }, { node }];
    case "replace":
      return [{ node: { text: oddities[mutation.by] } }];
    case "rename":
      return [{ node, name: mutation.name }];
    case "add":
      return [
        { node: "members" in node ? { ...node, members: [...node.members, [mutation.name, { text: "1" }]] } : node },
      ];
    case "bound":
      return [{ node: atBound(node, mutation.isUpper, mutation.by) }];
    default:
      return mutation satisfies never;
  }
}

/** A value whose size is a limit of its schema, or one beside it. */
function atBound(node: Node, isUpper: boolean, by: number): Node {
  const { schema } = node;
  if (!schema) return node;
  const number = isUpper ? schema.maximum : schema.minimum;
  if (number !== undefined) return { text: String(number + by) };
  const length = isUpper ? schema.maxLength : schema.minLength;
  if (length !== undefined) return { text: JSON.stringify("x".repeat(Math.max(0, length + by))) };
  if (schema.maxItems === undefined || !("items" in node)) return node;
  const item = node.items[0] ?? { text: "{}" };
  return { ...node, items: Array.from({ length: schema.maxItems + by }, () => item) };
}

/** What happens to the bytes on top of it. */
export const damages = fc.oneof(
  { weight: 8, arbitrary: fc.constant("none" as const) },
  fc.record({ cutAt: fc.nat({ max: 3_000 }) }),
  fc.record({ at: fc.nat({ max: 3_000 }), put: fc.integer({ min: 0, max: 255 }) }),
  fc.constantFrom("mark" as const, "utf-16" as const, "trailing" as const, "spaces" as const),
);
export type Damage = typeof damages extends fc.Arbitrary<infer T> ? T : never;

/** The value as UTF-8, damaged. */
export function toBytes(node: Node, damage: Damage): Buffer {
  const bytes = Buffer.from(write(node));
  if (typeof damage === "object" && "cutAt" in damage) return bytes.subarray(0, damage.cutAt % (bytes.length + 1));
  if (typeof damage === "object") {
    const at = damage.at % (bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, at), Buffer.of(damage.put), bytes.subarray(at)]);
  }
  switch (damage) {
    case "none":
      return bytes;
    case "mark":
      return Buffer.concat([Buffer.from("\ufeff"), bytes]);
    case "utf-16":
      return Buffer.from(bytes.toString(), "utf16le");
    case "trailing":
      return Buffer.concat([bytes, Buffer.from("{}")]);
    case "spaces":
      return Buffer.concat([Buffer.alloc(1_000, " "), bytes, Buffer.from("\r\n\t")]);
    default:
      return damage satisfies never;
  }
}
