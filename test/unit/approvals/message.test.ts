import { describe, expect, it } from "vitest";
import { elicitationMessage } from "@/lib/approvals/message";

const message = (change: Partial<Parameters<typeof elicitationMessage>[0]>) =>
  elicitationMessage({
    clientName: "CRM server",
    title: "Delete project Apollo",
    tool: "delete_project",
    matchCode: "47",
    locale: "en",
    ...change,
  });

describe("the text of the elicitation", () => {
  it("is a fixed sentence of client, title and code, in the language that was asked for", () => {
    expect(message({})).toBe(
      "CRM server asks for your approval: “Delete project Apollo”. Open the page to read what will happen and to decide. Your confirmation code is 47.",
    );
    expect(message({ locale: "ja", matchCode: undefined })).toBe(
      "CRM server が承認を求めています：「Delete project Apollo」。ページを開き、内容を確認して決めてください。",
    );
  });

  it.each([
    ["pay at evil.com/login now"],
    ["https://evil.example"],
    ["javascript:alert(1)"],
    ["ｗｗｗ．ｅｖｉｌ．ｃｏｍ"],
    ["see mailto:a@b.example"],
  ])("holds nothing that a chat app could make a link of: %s", (text) => {
    expect(message({ title: text, clientName: text })).toBe(
      "The server asks for your approval: “delete_project”. Open the page to read what will happen and to decide. Your confirmation code is 47.",
    );
  });

  it("stays within 500 characters and writes hidden characters out, whatever the name and title hold", () => {
    expect(message({ title: "a\u202Eb" })).toContain("“a[U+202E]b”");
    for (const locale of ["en", "ja"] as const) {
      expect(
        [...message({ clientName: "\u200B".repeat(98), title: "\u200B".repeat(200), tool: "t".repeat(128), locale })]
          .length,
      ).toBeLessThanOrEqual(500);
      expect(
        [...message({ clientName: "漢".repeat(100), title: "字".repeat(200), tool: "t".repeat(128), locale })].length,
      ).toBeLessThanOrEqual(500);
    }
  });
});
