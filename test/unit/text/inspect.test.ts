import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inspectText, type Span } from "@/lib/text/inspect";

// Not a literal: the compiler's target does not know the v flag yet, the engine does.
const EMOJI = "\\p{RGI_Emoji}";

const original = (spans: Span[]) => spans.map((span) => (span.kind === "text" ? span.text : span.char)).join("");

/** The spans as a line of text: `a[U+202E right-to-left override]b`. */
function drawn(text: string, multiline = false): string {
  const spans = inspectText(text, { multiline });
  return spans.map((span) => (span.kind === "text" ? span.text : `[${span.codePoint} ${span.name}]`)).join("");
}

describe("I11: what cannot be seen is drawn", () => {
  it("splits a text into what is shown and what is drawn", () => {
    expect(inspectText("a\u202Eb", { multiline: false })).toEqual([
      { kind: "text", text: "a" },
      { kind: "hidden", char: "\u202E", codePoint: "U+202E", name: "right-to-left override" },
      { kind: "text", text: "b" },
    ]);
    expect(inspectText("", { multiline: false })).toEqual([]);
  });

  it.each([
    ["\u0000", "U+0000 null"],
    ["\t", "U+0009 tab"],
    ["\r", "U+000D carriage return"],
    ["\u001b", "U+001B escape"],
    ["\u0001", "U+0001 control character"],
    ["\u009f", "U+009F control character"],
    ["\u200b", "U+200B zero width space"],
    ["\u200d", "U+200D zero width joiner"],
    ["\u2069", "U+2069 pop directional isolate"],
    ["\u061c", "U+061C arabic letter mark"],
    ["\u00ad", "U+00AD soft hyphen"],
    ["\ufeff", "U+FEFF byte order mark"],
    ["\ufff9", "U+FFF9 format character"],
    ["\u2028", "U+2028 line separator"],
    ["\u2029", "U+2029 paragraph separator"],
    ["\u00a0", "U+00A0 no-break space"],
    ["\u3000", "U+3000 ideographic space"],
    ["\u2004", "U+2004 space"],
    ["\u1680", "U+1680 space"],
    ["\ue000", "U+E000 private use"],
    ["\u{10fffd}", "U+10FFFD private use"],
    ["\u0378", "U+0378 unassigned"],
    ["\uffff", "U+FFFF unassigned"],
    ["\ud800", "U+D800 lone surrogate"],
    ["\udfff", "U+DFFF lone surrogate"],
    ["\ufe0f", "U+FE0F variation selector 16"],
    ["\u{e0100}", "U+E0100 variation selector 17"],
    ["\u{e0001}", "U+E0001 language tag"],
    ["\u{e0041}", "U+E0041 tag A"],
    ["\u{e007f}", "U+E007F cancel tag"],
    ["\u115f", "U+115F hangul filler"],
    ["\u3164", "U+3164 hangul filler"],
    ["\u034f", "U+034F combining grapheme joiner"],
    ["\u17b4", "U+17B4 combining mark"],
    ["\u2065", "U+2065 unassigned"],
    ["\u2800", "U+2800 braille blank"],
    ["\u{1d159}", "U+1D159 invisible character"],
  ])("draws %j as %s", (character, label) => {
    expect(drawn(`x${character}y`)).toBe(`x[${label}]y`);
  });

  it("draws a line feed in a line, and shows it where lines are", () => {
    expect(drawn("a\nb")).toBe("a[U+000A line feed]b");
    expect(drawn("a\nb\r\n", true)).toBe("a\nb[U+000D carriage return]\n");
    expect(drawn("a\u0085b\u2028c", true)).toBe("a[U+0085 next line]b[U+2028 line separator]c");
  });

  it.each([
    "plain text",
    "株式会社サンプル（東京）、１０万円〜",
    "ｱﾎﾟﾛ",
    "naïve café",
    "Привет",
    "ไทย",
    "हिन्दी",
    "שָׁלוֹם",
    "a+b=c €5 ½ №",
  ])("shows %j as it is", (text) => {
    expect(inspectText(text, { multiline: false })).toEqual([{ kind: "text", text }]);
  });
});

describe("I11: marks do not pile up, nor lie on a label", () => {
  const mark = "[U+0301 combining mark]";

  it("draws every combining mark after the third", () => {
    expect(drawn("e\u0301\u0301\u0301")).toBe("e\u0301\u0301\u0301");
    expect(drawn("e\u0301\u0301\u0301\u0301\u0301x\u0301")).toBe(`e\u0301\u0301\u0301${mark}${mark}x\u0301`);
  });

  it("counts marks of every kind together", () => {
    expect(drawn("a\u0301\u0903\u20dd\u0301")).toBe(`a\u0301\u0903\u20dd${mark}`);
  });

  it("draws a mark that has no base", () => {
    expect(drawn("\u0301a")).toBe(`${mark}a`);
    expect(drawn("a\n\u0301", true)).toBe(`a\n${mark}`);
    expect(drawn("a\u200b\u0301\u0301")).toBe(`a[U+200B zero width space]${mark}${mark}`);
  });
});

describe("I11: an emoji is one visible sign", () => {
  it.each([
    "😀",
    "❤️",
    "👍🏽",
    "👨‍👩‍👧‍👦",
    "🏴‍☠️",
    "🇯🇵",
    "1️⃣",
    "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
  ])("shows %s whole", (emoji) => {
    expect(inspectText(`a${emoji}b`, { multiline: false })).toEqual([{ kind: "text", text: `a${emoji}b` }]);
  });

  it("draws joiners, selectors and tags that make no recommended emoji", () => {
    const joiner = "[U+200D zero width joiner]";
    expect(drawn("👨\u200d👩\u200d")).toBe(`👨${joiner}👩${joiner}`);
    expect(drawn("1\ufe0f")).toBe("1[U+FE0F variation selector 16]");
    expect(drawn("❤\ufe0e")).toBe("❤[U+FE0E variation selector 15]");
    expect(drawn("😀\u{e0061}\u{e007f}")).toBe("😀[U+E0061 tag a][U+E007F cancel tag]");
  });
});

describe("I11: text is never cut and never altered", () => {
  const nasty = fc.constantFrom(..."a\n\u202e\u200b\u0301\u3000\ufe0f\u200d❤👨👩1\u20e3\u{e0061}", "\ud800", "\udc00");
  const anyText = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(nasty, { maxLength: 30 }).map((pieces) => pieces.join("")),
    fc.array(fc.nat({ max: 0xffff }), { maxLength: 20 }).map((units) => String.fromCharCode(...units)),
  );

  it("gives back the input from its spans, one hidden character a span, no two texts in a row", () => {
    fc.assert(
      fc.property(anyText, fc.boolean(), (text, multiline) => {
        const spans = inspectText(text, { multiline });
        expect(original(spans)).toBe(text);
        for (const [index, span] of spans.entries()) {
          if (span.kind === "hidden") expect([...span.char]).toHaveLength(1);
          else expect(span.text !== "" && spans[index + 1]?.kind !== "text").toBe(true);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("shows nothing hidden but what holds an emoji together", () => {
    const hidden = /\p{C}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}|(?! )\p{Zs}|\p{M}{4}/u;
    const emoji = new RegExp(EMOJI, "gv");
    fc.assert(
      fc.property(anyText, (text) => {
        for (const span of inspectText(text, { multiline: false })) {
          if (span.kind === "text") expect(span.text.replace(emoji, "E")).not.toMatch(hidden);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
