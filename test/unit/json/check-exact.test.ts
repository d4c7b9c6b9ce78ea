import { describe, expect, it } from "vitest";
import { checkExact } from "@/lib/json/check-exact";

const code = (value: unknown) => checkExact(value)?.code;
const pointer = (value: unknown) => checkExact(value)?.pointer;

describe("I3: a value that was not read from text is held to the same rules", () => {
  it("accepts plain JSON values, shared parts and objects without a prototype", () => {
    const shared = { list: [1, 2.5, "x", null, true, {}] };
    expect(checkExact({ first: shared, second: [shared, shared] })).toBeNull();
    expect(checkExact(Object.assign(Object.create(null), { constructor: 1, toString: "2" }))).toBeNull();
  });

  it.each([Number.NaN, Infinity, -Infinity, -0, 2 ** 53, -(2 ** 53), 1e300])("refuses the number %s", (value) => {
    expect(checkExact({ a: [value] })).toEqual({
      code: "number_not_exact",
      pointer: "/a/0",
      message: "A number must be finite, not negative zero, and within ±(2^53−1) when it is an integer.",
    });
  });

  it.each([
    ["undefined", undefined],
    ["a function", () => 1],
    ["a symbol", Symbol("s")],
    ["a big integer", 1n],
    ["a date", new Date(0)],
    ["a map", new Map()],
    ["a typed array", new Uint8Array(2)],
    ["a boxed string", Object("text")],
    ["a class instance", new (class Point {})()],
    ["an object that inherits", Object.create({ a: 1 })],
    ["a subclass of Array", new (class List extends Array {})()],
    ["an array with a hole", Object.assign(new Array(3), { 0: 1, 2: 3 })],
    ["an array with a hole and a name", Object.assign(new Array(2), { 0: 1, name: 2 })],
    ["an array with a name", Object.assign([1], { name: 2 })],
    ["a symbol as key", { [Symbol("s")]: 1 }],
    ["a getter", Object.defineProperty({}, "a", { get: () => 1, enumerable: true })],
    ["a member that is not enumerable", Object.defineProperty({}, "a", { value: 1, enumerable: false })],
  ])("refuses %s", (_, value) => {
    expect(checkExact({ "a/b": [null, value] })).toMatchObject({ code: "malformed", pointer: "/a~1b/1" });
  });

  it("does not call an accessor", () => {
    let calls = 0;
    const value = Object.defineProperty({}, "a", { get: () => ++calls, enumerable: true });
    expect(code(value)).toBe("malformed");
    expect(calls).toBe(0);
  });

  it("refuses text that would not survive, in names too", () => {
    expect(checkExact({ a: "x\0" })).toMatchObject({ code: "nul_character", pointer: "/a" });
    expect(checkExact({ a: { "\0": 1 } })).toMatchObject({ code: "nul_character", pointer: "/a" });
    expect(checkExact(["\ud800"])).toMatchObject({ code: "lone_surrogate", pointer: "/0" });
    expect(checkExact({ "\udc00": 1 })).toMatchObject({ code: "lone_surrogate", pointer: "" });
    expect(checkExact(["😀"])).toBeNull();
  });

  it("refuses an own member called __proto__", () => {
    expect(checkExact(JSON.parse('{"a":{"__proto__":1}}'))).toMatchObject({
      code: "forbidden_key",
      pointer: "/a/__proto__",
    });
  });

  it("refuses a value that contains itself", () => {
    const list: unknown[] = [];
    list.push({ list });
    expect(code(list)).toBe("malformed");
    expect(pointer(list)).toBe("/0/list");
  });

  it("bounds depth as the parser does", () => {
    const nest = (depth: number): unknown => (depth === 0 ? 1 : [nest(depth - 1)]);
    expect(checkExact(nest(32))).toBeNull();
    expect(checkExact(nest(33))).toMatchObject({ code: "too_deep", pointer: "/0".repeat(32) });
    expect(checkExact(nest(33), { maxDepth: 33 })).toBeNull();
  });
});
