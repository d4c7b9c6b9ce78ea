import { describe, expect, it } from "vitest";
import { canonicalJson } from "@/lib/json/canonical";
import type { JsonValue } from "@/lib/json/value";

/** What a caller without types could pass. */
const untyped = (value: unknown) => canonicalJson(value as JsonValue);

describe("canonical text (RFC 8785)", () => {
  it("writes numbers, strings and literals as section 3.2.2 does", () => {
    const value = {
      numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 1e-27],
      string: '\u20ac$\u000f\nA\'B"\\\\"/',
      literals: [null, true, false],
    };
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it("orders members by UTF-16 code units, as section 3.2.3 does", () => {
    const names = ["\u20ac", "\r", "\ufb33", "1", "😀", "\u0080", "\u00f6"];
    const value = Object.fromEntries(names.map((name, index) => [name, index]));
    expect(Object.keys(JSON.parse(canonicalJson(value)))).toEqual([
      "1",
      "\r",
      "\u0080",
      "\u00f6",
      "\u20ac",
      "😀",
      "\ufb33",
    ]);
    expect(canonicalJson(value)).toBe('{"\\r":1,"1":3,"\u0080":5,"\u00f6":6,"\u20ac":0,"😀":4,"\ufb33":2}');
  });

  it.each([
    ["NaN", Number.NaN],
    ["an infinity", [Infinity]],
    ["a lone surrogate", ["\ud800"]],
    ["a lone surrogate in a name", { "\udc00": 1 }],
    ["undefined", undefined],
    ["an undefined member", { a: undefined }],
    ["an undefined element", [undefined]],
    ["a hole", new Array(1)],
    ["a function", { a: () => 1 }],
    ["a symbol", [Symbol("s")]],
    ["a big integer", [1n]],
    ["a date", new Date(0)],
    ["an object that converts itself", { a: 1, toJSON: () => 2 }],
    ["a map", new Map([["a", 1]])],
  ])("throws TypeError instead of writing something else for %s", (_, value) => {
    expect(() => untyped(value)).toThrow(TypeError);
  });

  it("throws TypeError for a value that contains itself", () => {
    const list: unknown[] = [];
    list.push(list);
    const converting: Record<string, unknown> = { toJSON: () => 1 };
    converting["self"] = converting;
    expect(() => untyped(list)).toThrow(TypeError);
    expect(() => untyped(converting)).toThrow(TypeError);
  });

  it("writes shared parts twice", () => {
    const shared = { a: 1 };
    expect(canonicalJson([shared, shared])).toBe('[{"a":1},{"a":1}]');
  });
});
