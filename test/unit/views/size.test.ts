import { describe, expect, it } from "vitest";
import { isShowable } from "@/lib/views/size";

describe("what can be shown whole", () => {
  it("is a long text, a long list, deep nesting and many names, each within reason", () => {
    expect(isShowable({ text: "あ".repeat(21_000) })).toBe(true);
    expect(isShowable({ list: Array.from({ length: 900 }, (_, i) => i) })).toBe(true);
    expect(isShowable(Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`name-${i}`, i])))).toBe(true);
    expect(isShowable({})).toBe(true);
  });

  it.each([
    ["a long name over a long list", { ["n".repeat(32_000)]: Array.from({ length: 900 }, () => 0) }],
    ["more leaves than anybody reads", { a: Array.from({ length: 5_000 }, () => 0) }],
    ["thousands of hidden characters, each a box", { a: "\u202e".repeat(20_000) }],
    ["hidden characters in a name over a list", { ["\u202e".repeat(9_000)]: [0, 0] }],
  ])("is not %s", (_name, args) => {
    const startedAt = performance.now();
    expect(isShowable(args)).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(500);
  });
});
