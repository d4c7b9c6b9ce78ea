import { createHash } from "node:crypto";
import {
  actionDigest,
  canonicalJson,
  copyExactly,
  InexactValueError,
  type JsonObject,
  type JsonValue,
} from "@countersign/mcp";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const sha256 = (text: string) => `sha256:${createHash("sha256").update(text, "utf8").digest("hex")}`;

describe("the digest of an action", () => {
  it.each([
    [
      "the contract's example",
      {
        tool: "delete_project",
        arguments: { project_id: "p_42", expected_items: 318 },
        salt: "AAAAAAAAAAAAAAAAAAAAAA",
      },
      '{"arguments":{"expected_items":318,"project_id":"p_42"},"salt":"AAAAAAAAAAAAAAAAAAAAAA","tool":"delete_project"}',
    ],
    ["no arguments", { tool: "t", arguments: {}, salt: "s" }, '{"arguments":{},"salt":"s","tool":"t"}'],
    [
      "names in UTF-16 order (RFC 8785 section 3.2.3)",
      {
        tool: "t",
        arguments: { "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\u{1f600}": 5, "\u0080": 6, "\u00f6": 7 },
        salt: "s",
      },
      '{"arguments":{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\u{1f600}":5,"\ufb33":3},"salt":"s","tool":"t"}',
    ],
    [
      "numbers as ECMAScript writes them",
      { tool: "t", arguments: { n: [333333333.3333333, 4.5, 2e-3, 1e-27, 0.000001, 9007199254740991] }, salt: "s" },
      '{"arguments":{"n":[333333333.3333333,4.5,0.002,1e-27,0.000001,9007199254740991]},"salt":"s","tool":"t"}',
    ],
  ])("is the SHA-256 of the RFC 8785 text: %s", (_, action, text) => {
    expect(actionDigest(action)).toBe(sha256(text));
  });

  it("is a known one", () => {
    expect(actionDigest({ tool: "t", arguments: {}, salt: "s" })).toBe(
      "sha256:616cc9e38a106e6ae8b67d12eaebf16bb3607b8062b1befa354090bd8440aeb7",
    );
  });

  it("does not depend on the order of the keys", () => {
    fc.assert(
      fc.property(exactObjects(), fc.infiniteStream(fc.nat()), (args, order) => {
        const shuffled = shuffle(args, () => order.next().value);
        const salt = "s";
        expect(actionDigest({ tool: "t", arguments: shuffled, salt })).toBe(
          actionDigest({ tool: "t", arguments: args, salt }),
        );
      }),
    );
  });

  it("is another one for another tool, argument, type or salt", () => {
    const digests = [
      { tool: "t", arguments: { a: 1 }, salt: "s" },
      { tool: "u", arguments: { a: 1 }, salt: "s" },
      { tool: "t", arguments: { a: "1" }, salt: "s" },
      { tool: "t", arguments: { a: [1] }, salt: "s" },
      { tool: "t", arguments: { a: 1, b: null }, salt: "s" },
      { tool: "t", arguments: { a: 1 }, salt: "S" },
    ].map(actionDigest);
    expect(new Set(digests).size).toBe(digests.length);
  });
});

describe("an exact copy", () => {
  it("I3: is what JSON carries, and cannot be changed", () => {
    fc.assert(
      fc.property(exactObjects(), (value) => {
        const copy = copyExactly(value);
        expect(copy).toEqual(JSON.parse(JSON.stringify(value)));
        expect(JSON.parse(canonicalJson(value))).toEqual(copy);
        expect(Object.isFrozen(copy)).toBe(true);
      }),
    );
  });

  const self: Record<string, unknown> = {};
  self["me"] = { self };
  const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });

  it.each([
    ["undefined", { a: { b: undefined } }, "/a/b"],
    ["NaN", { a: [1, Number.NaN] }, "/a/1"],
    ["Infinity", { a: Number.POSITIVE_INFINITY }, "/a"],
    ["-0", { a: -0 }, "/a"],
    ["an integer beyond 2^53-1", { a: 2 ** 53 }, "/a"],
    ["a large double, which is an integer too", { a: 1e300 }, "/a"],
    ["a BigInt", { a: 1n }, "/a"],
    ["a Date", { "a/b": { "c~d": new Date(0) } }, "/a~1b/c~0d"],
    ["a Map", { a: new Map() }, "/a"],
    ["a class instance", { a: new (class Thing {})() }, "/a"],
    ["a function", { a: () => 1 }, "/a"],
    ["a symbol", { a: Symbol("s") }, "/a"],
    ["a symbol as a name", { a: { [Symbol("s")]: 1 } }, "/a"],
    ["a getter", { a: Object.defineProperty({}, "b", { get: () => 1, enumerable: true }) }, "/a/b"],
    ["a hidden property", { a: Object.defineProperty({}, "b", { value: 1 }) }, "/a/b"],
    ["an array with a hole", { a: Object.assign([1], { length: 3 }) }, "/a"],
    ["an array with a name", { a: Object.assign([1], { b: 2 }) }, "/a"],
    ["a lone surrogate", { a: "x\ud800y" }, "/a"],
    ["U+0000", { a: "x\u0000" }, "/a"],
    ["__proto__", JSON.parse('{"a":{"__proto__":1}}'), "/a/__proto__"],
    ["itself", self, "/me/self"],
    ["33 levels", deep(33), `${"/a".repeat(32)}`],
  ])("refuses %s, naming the place", (_, value, pointer) => {
    expect(() => copyExactly(value)).toThrow(InexactValueError);
    try {
      copyExactly(value);
    } catch (error) {
      expect((error as InexactValueError).pointer).toBe(pointer);
    }
  });

  it("takes 32 levels, the same object twice, and objects without a prototype", () => {
    const shared = { a: 1 };
    expect(copyExactly(deep(32))).toEqual(deep(32));
    expect(copyExactly([shared, shared])).toEqual([shared, shared]);
    expect(copyExactly(Object.assign(Object.create(null), { a: 1 }))).toEqual({ a: 1 });
  });
});

/** Any object that JSON carries exactly. */
function exactObjects(): fc.Arbitrary<JsonObject> {
  const numbers = fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .filter((n) => !Object.is(n, -0) && (!Number.isInteger(n) || Number.isSafeInteger(n)));
  const strings = fc.string({ unit: "binary" }).filter((text) => !text.includes("\u0000"));
  const names = strings.filter((name) => name !== "__proto__");
  const { object } = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constant(null),
      fc.boolean(),
      numbers,
      strings,
      fc.array(tie("value"), { maxLength: 4 }),
      tie("object"),
    ),
    object: fc.dictionary(names, tie("value"), { maxKeys: 4 }),
  }));
  return object;
}

function shuffle<T>(value: T, next: () => number): T {
  if (Array.isArray(value)) return value.map((item) => shuffle(item, next)) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, item]) => ({ name, item, at: next() }));
  entries.sort((a, b) => a.at - b.at);
  return Object.fromEntries(entries.map(({ name, item }) => [name, shuffle(item, next)])) as T;
}
