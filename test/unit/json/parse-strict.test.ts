import { describe, expect, it } from "vitest";
import type { JsonFaultCode } from "@/lib/json/fault";
import { parseStrict } from "@/lib/json/parse-strict";

function faultOf(text: string, maxDepth?: number): { code: JsonFaultCode; pointer: string } {
  const parsed = parseStrict(text, maxDepth === undefined ? {} : { maxDepth });
  if (parsed.ok) throw new Error(`accepted: ${text.slice(0, 80)}`);
  return { code: parsed.fault.code, pointer: parsed.fault.pointer };
}

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

describe("I3: a document is accepted only as what it says", () => {
  it("reads every kind of value as JSON.parse does", () => {
    const text =
      ' {"a":[1,-2.5,1e2,true,false,null],"b":{"":"\\u3042\\n\\/\\"\\\\\\ud83d\\ude00 é"},"c":[],"d":{}}\r\n\t';
    expect(parseStrict(text)).toEqual({ ok: true, value: JSON.parse(text) });
  });

  it.each(["null", "true", "0", '""', '"a"', "[]", "{}"])("reads %s alone", (text) => {
    expect(parseStrict(text)).toEqual({ ok: true, value: JSON.parse(text) });
  });

  it("makes own members of names that every object inherits", () => {
    const parsed = parseStrict('{"constructor":1,"toString":2,"hasOwnProperty":3,"valueOf":{"prototype":4}}');
    if (!parsed.ok) throw new Error(parsed.fault.message);
    expect(Object.entries(parsed.value ?? {})).toEqual([
      ["constructor", 1],
      ["toString", 2],
      ["hasOwnProperty", 3],
      ["valueOf", { prototype: 4 }],
    ]);
    expect(Object.getPrototypeOf(parsed.value)).toBe(Object.prototype);
  });
});

describe("I3: what is not JSON is refused as malformed, as JSON.parse refuses it", () => {
  const malformed = [
    [
      "",
      " ",
      "\uFEFF{}",
      "nul",
      "nulll",
      "True",
      "undefined",
      "NaN",
      "Infinity",
      "-Infinity",
      "'a'",
      "a",
      "/**/1",
      "1//",
    ],
    [
      "01",
      "-1e01x",
      "+1",
      "-",
      "--1",
      ".5",
      "1.",
      "1.e1",
      "1e",
      "1e+",
      "1e1.5",
      "0x10",
      "1_000",
      "1n",
      "٣",
      "１",
      "- 1",
      "1 2",
    ],
    [
      '"',
      '"a',
      '"\\',
      '"\\"',
      '"\\x41"',
      '"\\u12"',
      '"\\u12g4"',
      '"\\U0041"',
      '"\\\'"',
      '"a\nb"',
      '"a\tb"',
      '"\u001f"',
      '"a"b',
    ],
    ["[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1,,2]", "[1}", "[1]]", "[]1", "[1;2]"],
    [
      "{",
      "}",
      "{,}",
      '{"a"}',
      '{"a":}',
      '{"a":1',
      '{"a":1,',
      '{"a":1,}',
      "{a:1}",
      "{'a':1}",
      "{1:1}",
      '{"a" 1}',
      '{"a":1 "b":2}',
    ],
    [
      '{"a":1]',
      '{"a"::1}',
      '{"a":1}}',
      "{null:1}",
      '{"a":1,,"b":2}',
      "\v1",
      "\f1",
      "\u00a01",
      "1\u2028",
      "tru",
      "[true,fals]",
      "\0",
    ],
  ].flat();

  it.each(malformed)("refuses %j", (text) => {
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
    expect(faultOf(text).code).toBe("malformed");
  });

  it("points to the innermost value that is broken and tells the offset", () => {
    expect(parseStrict('{"a":[1,{"b/c~":tru}]}')).toEqual({
      ok: false,
      fault: { code: "malformed", pointer: "/a/1/b~1c~0", message: "Unexpected character at offset 16." },
    });
    expect(parseStrict("[1,")).toEqual({
      ok: false,
      fault: { code: "malformed", pointer: "/1", message: "Unexpected end at offset 3." },
    });
  });
});

describe("I3: nothing is dropped or read in two ways", () => {
  it.each([
    ['{"a":1,"a":1}', "/a"],
    ['{"a":1,"b":2,"\\u0061":3}', "/a"],
    ['[0,{"x":{"k":null,"k":null}}]', "/1/x/k"],
    ['{"":1,"":2}', "/"],
    ['{"constructor":1,"constructor":2}', "/constructor"],
    ['{"a":1,"a":', "/a"],
  ])("refuses a member named twice, after unescaping: %s", (text, pointer) => {
    expect(faultOf(text)).toEqual({ code: "duplicate_key", pointer });
  });

  it("accepts equal names in different objects, and names that only look equal", () => {
    expect(parseStrict('[{"a":1},{"a":{"a":2}}]').ok).toBe(true);
    expect(parseStrict('{"é":1,"e\u0301":2,"A":3,"a":4}').ok).toBe(true);
  });

  it.each([
    ['{"__proto__":null}', "/__proto__"],
    ['{"a":[{"\\u005f_proto\\u005F_":{}}]}', "/a/0/__proto__"],
  ])("refuses __proto__ as a name, after unescaping: %s", (text, pointer) => {
    expect(faultOf(text)).toEqual({ code: "forbidden_key", pointer });
  });

  it("accepts __proto__ as text", () => {
    expect(parseStrict('["__proto__"]')).toEqual({ ok: true, value: ["__proto__"] });
  });
});

describe("I3: text arrives as it was sent", () => {
  it.each([
    ['"\\u0000"', ""],
    ['{"a":["x\\u0000y"]}', "/a/0"],
    ['{"a":{"\\u0000":1}}', "/a"],
    ['["\0"]', "/0"],
  ])("refuses U+0000, in names too: %j", (text, pointer) => {
    expect(faultOf(text)).toEqual({ code: "nul_character", pointer });
  });

  it.each([
    ['"\\ud800"', ""],
    ['"\\udc00"', ""],
    ['["\\ud83dx\\ude00"]', "/0"],
    ['["\\ude00\\ud83d"]', "/0"],
    ['["\ud83d"]', "/0"],
    ['["\ude00 "]', "/0"],
    ['["\ud83d\\ude00"]', "/0"],
    ['["\\ud83d\ude00"]', "/0"],
    ['{"a":{"\\udfff":1}}', "/a"],
  ])("refuses half a surrogate pair, written out or escaped: %j", (text, pointer) => {
    expect(faultOf(text)).toEqual({ code: "lone_surrogate", pointer });
  });

  it("accepts whole pairs, noncharacters and every other escape", () => {
    const text = '["😀","\\uD83D\\uDE00","\\uffff","\\u202e","\\b\\f\\n\\r\\t"]';
    expect(parseStrict(text)).toEqual({ ok: true, value: ["😀", "😀", "\uffff", "\u202e", "\b\f\n\r\t"] });
  });
});

describe("I3: numbers are never rounded", () => {
  it.each(
    [
      [
        "0",
        "0.0",
        "0e5",
        "0E-400",
        "0.000e999999",
        "1",
        "1.0",
        "1.10",
        "0.1",
        "0.10",
        "1e2",
        "1E+2",
        "1e02",
        "100e-2",
        "-1.5",
        "5E-324",
      ],
      ["9007199254740991", "-9007199254740991", "9007199254740991.0", "9.007199254740991e15", "0.9007199254740991e16"],
      [
        "123456789.12345678",
        "2.2250738585072014e-308",
        "1e-7",
        "0.0000001",
        "0.00000010",
        "4503599627370495.5",
        "3.141592653589793",
      ],
      [`0.${"0".repeat(400)}1e400`, `1${"0".repeat(400)}e-399`, `1.5${"0".repeat(5000)}`, "10e-0000000000000000000001"],
    ].flat(),
  )("accepts %s", (source) => {
    expect(parseStrict(source)).toEqual({ ok: true, value: Number(source) });
  });

  it.each(
    [
      ["-0", "-0.0", "-0e5", "-0.0E-7", "-1e-400"],
      [
        "9007199254740992",
        "-9007199254740992",
        "9007199254740993",
        "9007199254740993.0",
        "9.007199254740993e15",
        "1e16",
        "1e300",
      ],
      [
        "1e400",
        "-1e400",
        "1e-400",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "123456789012345678901234567890",
      ],
      [
        "0.1000000000000000055511151231257827",
        "0.10000000000000001",
        "4.9e-324",
        "1.7976931348623157e308",
        "333333333.33333329",
      ],
      [
        "9007199254740990.5",
        "4503599627370495.25",
        "1.00000000000000001",
        `1.${"0".repeat(5000)}1`,
        `${"9".repeat(5000)}`,
      ],
    ].flat(),
  )("refuses %s", (source) => {
    expect(faultOf(source)).toEqual({ code: "number_not_exact", pointer: "" });
    expect(faultOf(`{"sum":[0,${source}]}`)).toEqual({ code: "number_not_exact", pointer: "/sum/1" });
  });
});

describe("I3: depth is bounded before the document is read further", () => {
  it("accepts 32 containers inside one another and refuses 33", () => {
    expect(parseStrict(nested(32)).ok).toBe(true);
    expect(faultOf(nested(33))).toEqual({ code: "too_deep", pointer: "/0".repeat(32) });
    expect(parseStrict(`${'{"a":'.repeat(32)}1${"}".repeat(32)}`).ok).toBe(true);
    expect(faultOf(`${'{"a":'.repeat(33)}1${"}".repeat(33)}`)).toEqual({ code: "too_deep", pointer: "/a".repeat(32) });
  });

  it("counts depth, not containers", () => {
    expect(parseStrict(`[${"[],".repeat(500)}{}]`).ok).toBe(true);
  });

  it("takes another limit from the caller", () => {
    expect(parseStrict("1", { maxDepth: 0 }).ok).toBe(true);
    expect(faultOf("[]", 0)).toEqual({ code: "too_deep", pointer: "" });
    expect(parseStrict(nested(34), { maxDepth: 34 }).ok).toBe(true);
    expect(parseStrict(nested(1000), { maxDepth: 1000 }).ok).toBe(true);
  });

  it("answers an endless opening at once", () => {
    expect(faultOf("[".repeat(1_000_000)).code).toBe("too_deep");
    expect(faultOf('{"a":'.repeat(200_000)).code).toBe("too_deep");
  });
});

it("I9: a refusal repeats no value of the document", () => {
  const secret = "hunter2";
  for (const text of [`["${secret}`, `["${secret}\\u0000"]`, `["${secret}\\ud800"]`, `{"a":"${secret}","a":1}`]) {
    const parsed = parseStrict(text);
    expect(parsed.ok).toBe(false);
    expect(JSON.stringify(parsed)).not.toContain(secret);
  }
  expect(JSON.stringify(parseStrict("[1234567890.12345678901]"))).not.toContain("1234567890");
});
