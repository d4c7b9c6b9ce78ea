import { deepStrictEqual } from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "@/lib/json/canonical";
import { parseStrict } from "@/lib/json/parse-strict";
import type { JsonValue } from "@/lib/json/value";

const text = fc.string({ unit: "binary" }).map((value) => value.replaceAll("\0", "0"));
const number = fc.oneof(
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Number.isInteger(value)),
);
const inherited = fc.constantFrom(
  "constructor",
  "toString",
  "hasOwnProperty",
  "toJSON",
  "prototype",
  "length",
  "0",
  "-1",
);
const key = fc.oneof(text, inherited).filter((name) => name !== "__proto__");

const exactJson = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(null, true, false),
    text,
    number.map((value) => value + 0),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(key, tie("value"), { maxKeys: 5, noNullPrototype: true }),
  ),
})).value;

describe("I3: a value survives its canonical text", () => {
  it("reads back as the value it was made from", () => {
    fc.assert(
      fc.property(exactJson, (value) => {
        deepStrictEqual(parseStrict(canonicalJson(value), { maxDepth: 100 }), { ok: true, value });
      }),
      { numRuns: 500 },
    );
  });

  it("finds nothing to refuse in a value that was read", () => {
    fc.assert(
      fc.property(exactJson, (value) => {
        const parsed = parseStrict(JSON.stringify(value, null, 1), { maxDepth: 100 });
        deepStrictEqual(parsed, { ok: true, value });
      }),
      { numRuns: 300 },
    );
  });

  it("does not depend on the order of members", () => {
    fc.assert(
      fc.property(fc.dictionary(key, exactJson, { maxKeys: 8, noNullPrototype: true }), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).reverse());
        expect(canonicalJson(reversed)).toBe(canonicalJson(value));
      }),
    );
  });

  it("is its own canonical text", () => {
    fc.assert(
      fc.property(exactJson, (value) => {
        const canonical = canonicalJson(value);
        const parsed = parseStrict(canonical, { maxDepth: 100 });
        expect(parsed.ok && canonicalJson(parsed.value)).toBe(canonical);
      }),
    );
  });
});

describe("I3: the strict parser and JSON.parse never disagree about a document that both accept", () => {
  // Cuts, doubles and swaps pieces of valid documents, and puts in characters that mean something to a parser.
  const splice = fc.record({
    at: fc.nat(),
    cut: fc.nat({ max: 3 }),
    put: fc.oneof(
      fc.constantFrom(
        ..."[]{}:,\"\\/0123456789.eE+-tfn \n\t'",
        "\\u0000",
        "\\ud800",
        "\\ude00",
        '"a":1,',
        "1e999",
        "-0",
        "\uFEFF",
      ),
      fc.string({ unit: "binary", maxLength: 2 }),
      fc.constant(""),
    ),
  });
  const document = fc
    .tuple(exactJson, fc.nat({ max: 2 }), fc.array(splice, { maxLength: 3 }))
    .map(([value, indent, splices]) =>
      splices.reduce(
        (source, { at, cut, put }) => {
          const start = at % (source.length + 1);
          return source.slice(0, start) + put + source.slice(start + cut);
        },
        JSON.stringify(value, null, indent),
      ),
    );

  it("accepts no more than JSON.parse, the same value, and names the reason for anything less", () => {
    fc.assert(
      fc.property(document, (source) => {
        const parsed = parseStrict(source, { maxDepth: 100 });
        const loose = parseLoosely(source);
        if (parsed.ok) deepStrictEqual(loose, { value: parsed.value });
        else if (loose !== undefined) expect(parsed.fault.code).not.toBe("malformed");
      }),
      { numRuns: 5000 },
    );
  });

  function parseLoosely(source: string): { value: unknown } | undefined {
    try {
      return { value: JSON.parse(source) };
    } catch {
      return undefined;
    }
  }
});

describe("I3: a number is accepted exactly when the shortest decimal of its double has the same value", () => {
  const digits = (min: number, max: number) =>
    fc.array(fc.constantFrom(..."0123456789"), { minLength: min, maxLength: max }).map((list) => list.join(""));
  const written = fc
    .tuple(
      fc.constantFrom("", "-"),
      digits(1, 22).map((whole) => whole.replace(/^0+(?=.)/, "")),
      fc.option(digits(1, 25), { nil: undefined }),
      fc.option(fc.integer({ min: -340, max: 320 }), { nil: undefined }),
      fc.constantFrom("e", "E", "e0", "E00"),
    )
    .map(([sign, whole, fraction, exponent, e]) => {
      const power = exponent === undefined ? "" : exponent < 0 ? `${e[0]}-${e.slice(1)}${-exponent}` : e + exponent;
      return `${sign}${whole}${fraction === undefined ? "" : `.${fraction}`}${power}`;
    });
  const respelled = fc
    .tuple(number, fc.integer({ min: -30, max: 30 }), fc.nat({ max: 20 }))
    .map(([value, shift, zeros]) => respell(String(value + 0), shift, zeros));

  it("agrees with arithmetic on fractions of big integers", () => {
    fc.assert(
      fc.property(fc.oneof(written, respelled), (source) => {
        const value = Number(source);
        const isSafe = Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
        const isExact = isSafe && !Object.is(value, -0) && isEqualFraction(source, String(value));
        expect(parseStrict(source)).toEqual(
          isExact ? { ok: true, value } : { ok: false, fault: expect.objectContaining({ code: "number_not_exact" }) },
        );
      }),
      { numRuns: 3000 },
    );
  });

  it("accepts every other spelling of a double that it accepts", () => {
    fc.assert(
      fc.property(respelled, (source) => {
        expect(parseStrict(source)).toEqual({ ok: true, value: Number(source) });
      }),
      { numRuns: 1000 },
    );
  });

  /** The same number with `zeros` more zeros at its end and its point moved by `shift` places. */
  function respell(source: string, shift: number, zeros: number): string {
    const [mantissa = "", exponent = "0"] = source.split("e");
    const padded = (mantissa.includes(".") ? mantissa : `${mantissa}.`) + "0".repeat(zeros + 1);
    const [whole = "", fraction = ""] = padded.replace("-", "").split(".");
    const digitsOnly = (whole + fraction).replace(/^0+(?=.)/, "");
    const power = Number(exponent) - fraction.length;
    const point = Math.min(Math.abs(shift), digitsOnly.length - 1);
    const moved = point === 0 ? digitsOnly : `${digitsOnly.slice(0, -point)}.${digitsOnly.slice(-point)}`;
    return `${mantissa.startsWith("-") ? "-" : ""}${moved}e${power + point}`;
  }

  function isEqualFraction(left: string, right: string): boolean {
    const [a, b] = [toFraction(left), toFraction(right)];
    return a.numerator * b.denominator === b.numerator * a.denominator;
  }

  function toFraction(source: string): { numerator: bigint; denominator: bigint } {
    const [mantissa = "", exponent = "0"] = source.toLowerCase().split("e");
    const [whole = "", fraction = ""] = mantissa.split(".");
    const power = Number(exponent) - fraction.length;
    const scale = 10n ** BigInt(Math.abs(power));
    const numerator = BigInt(whole.replace("-", "") + fraction) * (whole.startsWith("-") ? -1n : 1n);
    return power < 0 ? { numerator, denominator: scale } : { numerator: numerator * scale, denominator: 1n };
  }
});
