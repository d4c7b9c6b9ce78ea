/** A value that JSON carries without changing it; what `copyExactly` returns is frozen all the way down. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [name: string]: JsonValue };

/** Why a value cannot be digested; `pointer` (RFC 6901) says where. */
export class InexactValueError extends Error {
  readonly pointer: string;
  readonly problem: string;

  constructor(pointer: string, problem: string) {
    super(`The value at "${pointer}" ${problem}.`);
    this.name = "InexactValueError";
    this.pointer = pointer;
    this.problem = problem;
  }
}

const MAX_DEPTH = 32;

/**
 * Copies a value that JSON can carry exactly (I-JSON, RFC 7493), frozen; refuses everything that JSON would drop, round or
 * alter, so that the value shown, the value digested and the value run are one.
 * Objects and arrays may nest 32 deep, the outermost one counted.
 * @throws InexactValueError naming the place by JSON pointer
 */
export function copyExactly(value: unknown): JsonValue {
  return copy(value, "", 0, new Set());
}

function copy(value: unknown, pointer: string, depth: number, parents: Set<object>): JsonValue {
  switch (typeof value) {
    case "boolean":
      return value;
    case "number":
      return exactNumber(value, pointer);
    case "string":
      return exactString(value, pointer, "");
    case "object":
      return value === null ? null : copyContainer(value, pointer, depth + 1, parents);
    case "undefined":
      throw new InexactValueError(pointer, "is undefined, which JSON leaves out");
    default:
      throw new InexactValueError(pointer, `is a ${typeof value}, which JSON cannot carry`);
  }
}

function copyContainer(value: object, pointer: string, depth: number, parents: Set<object>): JsonValue {
  if (depth > MAX_DEPTH) throw new InexactValueError(pointer, `is nested deeper than ${MAX_DEPTH} levels`);
  if (parents.has(value)) throw new InexactValueError(pointer, "contains itself");
  parents.add(value);
  const copied = Array.isArray(value)
    ? copyArray(value, pointer, depth, parents)
    : copyObject(value, pointer, depth, parents);
  parents.delete(value);
  return copied;
}

function copyArray(value: readonly unknown[], pointer: string, depth: number, parents: Set<object>): JsonValue {
  const names = Reflect.ownKeys(value);
  if (names.length !== value.length + 1) {
    throw new InexactValueError(pointer, "is an array with holes or extra properties");
  }
  return Object.freeze(value.map((item, index) => copy(item, `${pointer}/${index}`, depth, parents)));
}

function copyObject(value: object, pointer: string, depth: number, parents: Set<object>): JsonObject {
  if (!isPlain(value)) throw new InexactValueError(pointer, "is not a plain object; convert it to JSON values first");
  const copied: Record<string, JsonValue> = {};
  for (const name of Reflect.ownKeys(value)) {
    if (typeof name === "symbol") throw new InexactValueError(pointer, "has a symbol as a property name");
    const place = `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    exactString(name, place, " as its name");
    if (name === "__proto__") throw new InexactValueError(place, "is named __proto__");
    const property = Object.getOwnPropertyDescriptor(value, name);
    // A getter may answer differently each time it is read; a hidden property is left out by JSON.
    if (property?.enumerable !== true || !("value" in property)) {
      throw new InexactValueError(place, "is a computed or hidden property");
    }
    copied[name] = copy(property.value, place, depth, parents);
  }
  return Object.freeze(copied);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function exactNumber(value: number, pointer: string): number {
  if (!Number.isFinite(value)) throw new InexactValueError(pointer, "is not a finite number");
  if (Object.is(value, -0)) throw new InexactValueError(pointer, "is -0, which JSON writes as 0");
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new InexactValueError(pointer, "is an integer beyond ±(2^53−1); send it as a string");
  }
  return value;
}

function exactString(value: string, pointer: string, role: string): string {
  if (value.includes("\u0000")) throw new InexactValueError(pointer, `has U+0000${role}`);
  if (/\p{Surrogate}/u.test(value)) throw new InexactValueError(pointer, `has a lone surrogate${role}`);
  return value;
}
