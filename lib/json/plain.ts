/**
 * Says whether an object is a container as JSON means it: an array without holes or extra properties, or a plain object,
 * in both cases with enumerable data properties under string keys only.
 *
 * Anything else (dates, maps, class instances, accessors, symbols) means something that JSON text would lose or change.
 */
export function isPlainContainer(value: object): value is { readonly [member: string]: unknown } | readonly unknown[] {
  const keys = Reflect.ownKeys(value);
  if (Array.isArray(value)) {
    if (Object.getPrototypeOf(value) !== Array.prototype || keys.length !== value.length + 1) return false;
    return value.every((_, index) => isDataProperty(value, String(index))) && keys.at(-1) === "length";
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return keys.every((key) => typeof key === "string" && isDataProperty(value, key));
}

function isDataProperty(value: object, key: string): boolean {
  const property = Object.getOwnPropertyDescriptor(value, key);
  return property?.enumerable === true && "value" in property;
}
