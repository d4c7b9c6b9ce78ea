import { describe, expect, it } from "vitest";
import { isOneLine } from "@/lib/text/one-line";

describe("I11: a title is one visible line", () => {
  it.each(["Delete project Apollo", "削除　する", " x ", "a\tb", "\u202ex", "‐"])("accepts %j", (text) => {
    expect(isOneLine(text)).toBe(true);
  });

  it.each(["a\nb", "a\r", "\va", "a\f", "a\u0085b", "a\u2028b", "a\u2029b", "x\n"])(
    "refuses more than one line: %j",
    (text) => {
      expect(isOneLine(text)).toBe(false);
    },
  );

  it.each(["", " ", "\u3000\u00a0", "\t", "\u200b\u202e", "\u2800", "\u3164", "\u{e0041}"])(
    "refuses nothing to see: %j",
    (text) => {
      expect(isOneLine(text)).toBe(false);
    },
  );
});
