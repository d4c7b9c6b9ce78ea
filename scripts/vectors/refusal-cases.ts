/** A text of arguments that must be refused: with which code, and at which place in them (RFC 6901). */
export type RefusalCase = {
  name: string;
  argumentsText: string;
  code: string;
  pointer: string;
  /** Whether the fault is still there once an ordinary parser has read the text, so that a client can find it in a value. */
  seenInValue: boolean;
};

/** Name, text, pointer. */
type Row = [name: string, argumentsText: string, pointer: string];

const inValue: Record<string, Row[]> = {
  number_not_exact: [
    ["2^53", '{"a":9007199254740992}', "/a"],
    ["-2^53", '{"a":[0,-9007199254740992]}', "/a/1"],
    ["2^53+1, which no double is", '{"a":{"b":9007199254740993}}', "/a/b"],
    ["1e21, an integer though written with an exponent", '{"a":1e21}', "/a"],
    ["the largest double, an integer too", '{"a":1.7976931348623157e308}', "/a"],
    ["too large for a double", '{"a":1e400}', "/a"],
    ["-0.0", '{"a":-0.0}', "/a"],
  ],
  forbidden_key: [
    ["__proto__", '{"__proto__":1}', "/__proto__"],
    ["__proto__ written with an escape, further in", '{"a":[{"_\\u005fproto__":{}}]}', "/a/0/__proto__"],
  ],
  nul_character: [
    ["U+0000 in a text", '{"a/b":{"c~d":"x\\u0000"}}', "/a~1b/c~0d"],
    ["U+0000 in a name: the place is the object that has it", '{"a":{"x\\u0000":1}}', "/a"],
  ],
  lone_surrogate: [
    ["the first half alone", '{"a":"\\ud83d"}', "/a"],
    ["the second half alone", '{"a":["\\ude00"]}', "/a/0"],
    ["the halves in the wrong order", '{"a":"\\ude00\\ud83d"}', "/a"],
    ["half a pair in a name: the place is the object that has it", '{"\\ud83dx":1}', ""],
  ],
  too_deep: [
    ["33 levels", `{"a":${"[".repeat(32)}${"]".repeat(32)}}`, `/a${"/0".repeat(31)}`],
    ["33 levels of objects", `${'{"a":'.repeat(33)}1${"}".repeat(33)}`, "/a".repeat(32)],
  ],
};

const inText: Record<string, Row[]> = {
  number_not_exact: [
    ["-0, which some parsers read as the integer 0", '{"a":-0}', "/a"],
    ["more digits than a double holds", '{"a":0.10000000000000000555}', "/a"],
    ["2^53-1 and a fraction that is lost", '{"a":9007199254740991.2}', "/a"],
    ["smaller than the smallest double", '{"a":1e-400}', "/a"],
  ],
  duplicate_key: [
    ["the same name twice", '{"a":1,"a":1}', "/a"],
    ["the same name in two spellings", '{"a":[{"b":1,"\\u0062":2}]}', "/a/0/b"],
  ],
};

export const refusalCases: readonly RefusalCase[] = [...toCases(inValue, true), ...toCases(inText, false)];

function toCases(byCode: Record<string, Row[]>, seenInValue: boolean): RefusalCase[] {
  return Object.entries(byCode).flatMap(([code, rows]) =>
    rows.map(([name, argumentsText, pointer]) => ({ name, argumentsText, code, pointer, seenInValue })),
  );
}
