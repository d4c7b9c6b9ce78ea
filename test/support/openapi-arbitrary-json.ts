import fc from "fast-check";

/** As much of JSON Schema 2020-12 as the served document uses. */
export type Schema = {
  type?: string | string[];
  enum?: unknown[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minimum?: number;
  maximum?: number;
};

/** JSON as it will be written: members may stand twice, and a leaf may be text that is no JSON at all. */
export type Node = ({ members: [string, Node][] } | { items: Node[] } | { text: string }) & {
  schema?: Schema | undefined;
};

/**
 * Values of fields that lead somewhere, by name: what a schema alone would never hit upon, such as ids that exist. A field with none is
 * mostly left out.
 */
export type Known = Record<string, unknown[]>;

/** Values of this schema. A field that `known` names has, five times out of six, one of its values there. */
export function valuesOf(schema: Schema, known: Known = {}, name = ""): fc.Arbitrary<Node> {
  const own = known[name];
  const any = withoutKnown(schema, known);
  if (!own || own.length === 0) return any;
  const one = fc.constantFrom(...own).map((value) => nodeOf(value, schema));
  return fc.oneof({ weight: 5, arbitrary: one }, { weight: 1, arbitrary: any });
}

function withoutKnown(schema: Schema, known: Known): fc.Arbitrary<Node> {
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((each) => valuesOf(each, known)));
  if (schema.enum) return fc.constantFrom(...schema.enum).map((value) => nodeOf(value, schema));
  switch (schema.type) {
    case "object":
      return objectsOf(schema, known);
    case "array":
      return fc
        .array(valuesOf(schema.items ?? {}, known), { maxLength: Math.min(schema.maxItems ?? 4, 4) })
        .map((items) => ({ items, schema }));
    case "string":
      return stringsOf(schema).map((value) => nodeOf(value, schema));
    case "integer":
      return fc
        .integer({ min: schema.minimum ?? -1000, max: schema.maximum ?? 1000 })
        .map((value) => nodeOf(value, schema));
    case "number":
      return numbers.map((value) => nodeOf(value, schema));
    case "boolean":
      return fc.boolean().map((value) => nodeOf(value, schema));
    case "null":
      return fc.constant(nodeOf(null, schema));
    default:
      return fc.jsonValue({ maxDepth: 3 }).map((value) => nodeOf(value, schema));
  }
}

const numbers = fc.oneof(
  { weight: 8, arbitrary: fc.integer() },
  { weight: 8, arbitrary: fc.double({ noNaN: true, min: -1e9, max: 1e9 }) },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
);

function objectsOf(schema: Schema, known: Known): fc.Arbitrary<Node> {
  const required = new Set(schema.required);
  const named = Object.entries(schema.properties ?? {}).map(([name, each]) => {
    const member = valuesOf(each, known, name).map((value): [string, Node][] => [[name, value]]);
    const absence = known[name]?.length === 0 ? 8 : 1;
    return required.has(name)
      ? member
      : fc.oneof({ weight: absence, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: member });
  });
  const rest = typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
  const free = rest
    ? fc.array(fc.tuple(fc.string({ maxLength: 12 }), valuesOf(rest, known)), { maxLength: 4 })
    : fc.constant([]);
  return fc.tuple(free, ...named).map((members) => ({ members: onceEach(members.flat()), schema }));
}

const onceEach = (members: [string, Node][]) => [...new Map(members)];

/** Strings of the schema: mostly plain ones, some of any code point there is. */
export function stringsOf({ pattern, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<string> {
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  const size = { minLength, maxLength: Math.min(maxLength, 40) };
  return fc.oneof(
    { weight: 4, arbitrary: fc.string({ ...size, unit: "grapheme-ascii" }) },
    { weight: 2, arbitrary: fc.string({ ...size, maxLength: Math.min(size.maxLength, 8), unit: "grapheme" }) },
    { weight: 1, arbitrary: fc.string({ ...size, maxLength: Math.min(size.maxLength, 8), unit: "binary" }) },
  );
}

export function nodeOf(value: unknown, schema?: Schema): Node {
  if (Array.isArray(value)) return { items: value.map((each) => nodeOf(each, schema?.items)), schema };
  if (typeof value === "object" && value !== null)
    return {
      members: Object.entries(value).map(([name, each]) => [name, nodeOf(each, schema?.properties?.[name])]),
      schema,
    };
  return { text: JSON.stringify(value), schema };
}

export function write(node: Node): string {
  if ("text" in node) return node.text;
  if ("items" in node) return `[${node.items.map(write).join()}]`;
  return `{${node.members.map(([name, each]) => `${JSON.stringify(name)}:${write(each)}`).join()}}`;
}
