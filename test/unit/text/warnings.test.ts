import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ASCII_PROTOTYPES } from "@/lib/text/confusables-ascii";
import { textWarnings } from "@/lib/text/warnings";

describe("I11: ordinary text is shown without a warning", () => {
  it.each(
    [
      ["", "paypal", "delete_project --dry-run", "C:\\Users\\x", "https://example.com/a?b=c#d"],
      ["It’s “fine” – 2020–2021, 1920×1080…", "½ cup, 10², №5, −5 °C", "naïve café cœur", "hơn", "👍 ok"],
      [
        "株式会社サンプル（東京）、本社",
        "ABC商事へ10,000円を送金",
        "ｶ)ｱﾎﾟﾛ",
        "㈱山田 ①案",
        "PCノート",
        "Webノベル",
        "〇",
        "ノ",
        "二〇二六年",
        "北海道・札幌〜東京：済",
      ],
      ["Привет from Tokyo", "Привет с Токио", "о нём и о ней", "한국 SDS", "שלום", "نص عربي", "हिन्दी", "Ελλάδα"],
    ].flat(),
  )("%j", (text) => {
    expect(textWarnings(text)).toEqual([]);
  });

  it("never warns of ASCII within white space", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[!-~]([ -~]*[!-~])?$/), (text) => {
        expect(textWarnings(text)).toEqual([]);
      }),
    );
  });
});

describe("I11: words of several scripts are marked", () => {
  it.each(["пaypal", "αбв", "Москва/Tokyo", "東京Москва", "β版リリース", "삼성SDS", "x Приветx", "Ωмега"])(
    "%s",
    (text) => {
      expect(textWarnings(text)).toContain("mixed_scripts");
    },
  );

  it("sees through hidden characters inside a word", () => {
    expect(textWarnings("п\u200baypal")).toContain("mixed_scripts");
    expect(textWarnings("п\ufeffaypal")).toContain("mixed_scripts");
  });

  it.each(["漢字かなカナLatin", "Tōkyō東京ー", "x²・々〆"])("lets Latin, Han and kana mix: %s", (text) => {
    expect(textWarnings(text)).toEqual([]);
  });
});

describe("I11: what reads as ASCII but is not is marked (UTS 39)", () => {
  it.each(
    [
      [
        "раура",
        "Pay раура now",
        "«раура»",
        "раура.com",
        "раура（株）",
        "ɡoogle",
        "ɡoogle社",
        "appl℮",
        "ра\u200bура",
        "G〇〇GLE",
        "А4",
        "৪০",
      ],
      ["example.com∕path", "http:∕∕example.com", "example.comノpath", "16∶9", "C:∖x", "‐‐dry-run", "rm –rf", "-–force"],
      ["с", "プラン А", "с с с"],
    ].flat(),
  )("%s", (text) => {
    expect(textWarnings(text)).toContain("looks_like_ascii");
  });

  it("gives both warnings to a Latin word with a Cyrillic letter", () => {
    expect(textWarnings("pаypal")).toEqual(["mixed_scripts", "looks_like_ascii"]);
  });

  it("looks through compatibility forms", () => {
    expect(textWarnings("ｐаypаl")).toEqual(["mixed_scripts", "looks_like_ascii", "not_nfkc"]);
  });

  it("marks every letter that Unicode's table knows, as a word on its own", () => {
    const letters = [...ASCII_PROTOTYPES].filter(
      ([source, prototype]) => /\p{L}/u.test(source) && prototype.length === 1,
    );
    const judged = letters.filter(([source]) => !/\p{scx=Hani}|\p{scx=Hira}|\p{scx=Kana}/u.test(source));
    expect(judged.length).toBeGreaterThan(400);
    for (const [source] of judged) expect(textWarnings(source)).toContain("looks_like_ascii");
  });
});

describe("the table of confusables", () => {
  it.each([
    ["а", "a"],
    ["р", "p"],
    ["ο", "o"],
    ["І", "l"],
    ["ɡ", "g"],
    ["∕", "/"],
    ["‐", "-"],
    ["ы", undefined],
    ["ａ", undefined],
    ["1", undefined],
    ["東", undefined],
  ])("takes %s for %s", (source, prototype) => {
    expect(ASCII_PROTOTYPES.get(source)).toBe(prototype);
  });

  it("leads from characters that NFKC keeps, outside ASCII, to printable ASCII", () => {
    expect(ASCII_PROTOTYPES.size).toBeGreaterThan(600);
    for (const [source, prototype] of ASCII_PROTOTYPES) {
      expect(source.normalize("NFKC")).toBe(source);
      expect([...source]).toHaveLength(1);
      expect(source > "\x7f").toBe(true);
      expect(prototype).toMatch(/^[!-~]+$/);
    }
  });
});

describe("I11: letters under another code than their usual one are marked (UAX 15)", () => {
  it.each([
    ["full-width digits", "１０万円"],
    ["full-width Latin letters", "ＡＢＣ商事"],
    ["a ligature", "ﬁle"],
    ["mathematical letters", "𝐩𝐚𝐲"],
    ["a decomposed letter", "e\u0301"],
    ["decomposed kana", "か\u3099"],
    ["a compatibility ideograph", "\ufa19社"],
    ["a radical in place of an ideograph", "\u2f00"],
    ["a Roman numeral", "第Ⅳ章"],
    ["the ohm sign", "5 \u2126"],
    ["a non-breaking hyphen", "a\u2011b"],
    ["a one dot leader", "example\u2024com"],
  ])("%s", (_, text) => {
    expect(textWarnings(text)).toEqual(["not_nfkc"]);
  });

  it.each(["（：，．！？）", "ｶﾞﾊﾟｰ･｢｣", "㈱㍿①½℃™²…"])(
    "lets Japanese punctuation, half-width kana and symbols be: %s",
    (text) => {
      expect(textWarnings(text)).toEqual([]);
    },
  );

  it("gives no warning to what is its own compatibility form", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(textWarnings(text.normalize("NFKC"))).not.toContain("not_nfkc");
      }),
      { numRuns: 1000 },
    );
  });
});

describe("I11: space at the ends is marked", () => {
  it.each([" x", "x ", "x\n", "\tx", "x\u3000", "\u00a0x", "\ufeffx", " "])("%j", (text) => {
    expect(textWarnings(text)).toEqual(["outer_space"]);
  });
});

it("judges any text, each warning at most once and in one order", () => {
  const order = ["mixed_scripts", "looks_like_ascii", "not_nfkc", "outer_space"];
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 0xffff }), { maxLength: 30 }), (units) => {
      const warnings = textWarnings(String.fromCharCode(...units));
      expect(warnings).toEqual(order.filter((warning) => warnings.some((given) => given === warning)));
    }),
    { numRuns: 1000 },
  );
});
