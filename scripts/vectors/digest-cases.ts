/** An action as JSON text, and the canonical text that it must have: written by hand, by the rules of RFC 8785. */
export type DigestCase = { name: string; tool: string; argumentsText: string; salt: string; canonicalText: string };

const salt = "AAECAwQFBgcICQoLDA0ODw";

/** The canonical text of an action of the tool `t`, around the hand-written one of its arguments. */
const around = (canonicalArguments: string, of = salt, tool = "t") =>
  `{"arguments":${canonicalArguments},"salt":"${of}","tool":"${tool}"}`;

const plain: DigestCase[] = [
  {
    name: "the contract's example",
    tool: "delete_project",
    argumentsText: '{"project_id": "p_42", "expected_items": 318}',
    salt,
    canonicalText: around('{"expected_items":318,"project_id":"p_42"}', salt, "delete_project"),
  },
  { name: "another salt", tool: "t", argumentsText: "{}", salt: "_-8", canonicalText: around("{}", "_-8") },
  {
    name: "a tool name with every kind of character",
    tool: "Crm.delete_project-2",
    argumentsText: "{}",
    salt,
    canonicalText: around("{}", salt, "Crm.delete_project-2"),
  },
];

/** Name, arguments as sent, arguments in canonical form. */
const rows: [string, string, string][] = [
  ["no arguments", "{}", "{}"],
  ["white space and line ends between tokens", ' {\t"b" : [ 1 , 2 ] ,\r\n "a" : { } } ', '{"a":{},"b":[1,2]}'],
  [
    "empty containers, texts and names",
    '{"list":[],"object":{},"text":"","":[[],{},""]}',
    '{"":[[],{},""],"list":[],"object":{},"text":""}',
  ],
  ["literals", '{"yes":true,"no":false,"nothing":null}', '{"no":false,"nothing":null,"yes":true}'],
  [
    "nested objects, each sorted; arrays in their order",
    '{"z":{"b":[{"y":1,"x":2},[3,[2,[1]]]],"a":{"d":{"c":null}}}}',
    '{"z":{"a":{"d":{"c":null}},"b":[{"x":2,"y":1},[3,[2,[1]]]]}}',
  ],
  [
    "names that look like numbers sort as texts",
    '{"10":1,"9":2,"1":3,"-1":4,"01":5}',
    '{"-1":4,"01":5,"1":3,"10":1,"9":2}',
  ],
  [
    "upper case before lower, a prefix before its extension",
    '{"ab":1,"a":2,"B":3,"A":4}',
    '{"A":4,"B":3,"a":2,"ab":1}',
  ],
  [
    "names in the order of UTF-16 code units (the example of RFC 8785 section 3.2.3)",
    '{"\\u20ac":1,"\\r":2,"\\ufb33":3,"1":4,"\\ud83d\\ude00":5,"\\u0080":6,"\\u00f6":7}',
    '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\u{1f600}":5,"\ufb33":3}',
  ],
  [
    "a surrogate pair sorts before U+E000 to U+FFFD, though its code point is larger",
    '{"\\uffe5":1,"\\ue000":2,"\\ud7ff":3,"\\udbff\\udffd":4,"\\ud800\\udc00":5}',
    '{"\ud7ff":3,"\u{10000}":5,"\u{10fffd}":4,"\ue000":2,"\uffe5":1}',
  ],
  [
    "names that objects of some languages inherit",
    '{"toString":1,"constructor":2,"hasOwnProperty":3}',
    '{"constructor":2,"hasOwnProperty":3,"toString":1}',
  ],
  ["integers", '{"n":[0,1,-1,318,1000000]}', '{"n":[0,1,-1,318,1000000]}'],
  [
    "the largest and smallest integers that are taken",
    '{"max":9007199254740991,"min":-9007199254740991}',
    '{"max":9007199254740991,"min":-9007199254740991}',
  ],
  [
    "integers in other spellings",
    '{"n":[1.0,1e2,1E+2,-20e-1,0.0,0e5,9.007199254740991e15]}',
    '{"n":[1,100,100,-2,0,0,9007199254740991]}',
  ],
  [
    "decimal fractions",
    '{"n":[0.1,1.10,-0.5,4.50,333333333.3333333,2e-3]}',
    '{"n":[0.1,1.1,-0.5,4.5,333333333.3333333,0.002]}',
  ],
  [
    "17 significant digits",
    '{"n":[0.30000000000000004,0.1234567890123456]}',
    '{"n":[0.30000000000000004,0.1234567890123456]}',
  ],
  [
    "fractions beside large integers",
    '{"n":[4503599627370495.5,-1000000000000000.5]}',
    '{"n":[4503599627370495.5,-1000000000000000.5]}',
  ],
  [
    "the point moves into an exponent below 1e-6",
    '{"n":[0.000001,0.0000001,0.0000015,1.5e-7,1e-27]}',
    '{"n":[0.000001,1e-7,0.0000015,1.5e-7,1e-27]}',
  ],
  [
    "the smallest doubles",
    '{"normal":2.2250738585072014e-308,"subnormal":5e-324,"negative":-5E-324}',
    '{"negative":-5e-324,"normal":2.2250738585072014e-308,"subnormal":5e-324}',
  ],
  [
    "escapes that stay",
    '{"s":"\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u000B\\u001f"}',
    '{"s":"\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u000b\\u001f"}',
  ],
  [
    "escapes that are undone",
    '{"s":"\\/\\u0041\\u003c\\u007f\\u00e9\\u2028\\u2029"}',
    '{"s":"/A<\u007f\u00e9\u2028\u2029"}',
  ],
  [
    "a text of two, three and four bytes a character",
    '{"s":"\u00e9 \u65e5\u672c\u8a9e \u{1f600}"}',
    '{"s":"\u00e9 \u65e5\u672c\u8a9e \u{1f600}"}',
  ],
  ["a surrogate pair written as escapes", '{"s":"\\ud83d\\ude00"}', '{"s":"\u{1f600}"}'],
  [
    "composed and decomposed texts stay apart",
    '{"composed":"\\u00e9","decomposed":"e\\u0301"}',
    '{"composed":"\u00e9","decomposed":"e\u0301"}',
  ],
  ["invisible characters stay", '{"s":"a\\u200bb\\u202ec\\ufeff"}', '{"s":"a\u200bb\u202ec\ufeff"}'],
  ["a text that holds JSON", '{"s":"{\\"a\\":1.0}"}', '{"s":"{\\"a\\":1.0}"}'],
  ["numbers and texts of the same spelling differ", '{"n":1,"s":"1","t":"1.0"}', '{"n":1,"s":"1","t":"1.0"}'],
  [
    "32 levels, the arguments counted",
    `{"a":${"[".repeat(31)}${"]".repeat(31)}}`,
    '{"a":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}',
  ],
];

export const digestCases: readonly DigestCase[] = [
  ...plain,
  ...rows.map(([name, argumentsText, canonical]) => ({
    name,
    tool: "t",
    argumentsText,
    salt,
    canonicalText: around(canonical),
  })),
];
