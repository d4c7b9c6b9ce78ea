import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const file = path.join(import.meta.dirname, "../../../docs/mcp-conformance.md");
const text = readFileSync(file, "utf8");
const at = (link: string) => path.join(path.dirname(file), link);

/** Rows of the requirements, by their ids. */
const rows = [...text.matchAll(/^\| (S\d+) +\|.*$/gm)].map(([row, id]) => ({ id: String(id), row }));
/** Links to tests: the title in code, then the file. */
const tests = [...text.matchAll(/\[`([^`]+)`\]\((\.\.\/test\/[^)]+\.test\.ts)\)/g)].map(([, title, link]) => ({
  title: String(title),
  link: String(link),
}));

describe("docs/mcp-conformance.md", () => {
  it("has one row for each requirement on servers, S1 to S38, in their order", () => {
    expect(rows.map(({ id }) => id)).toEqual(Array.from({ length: 38 }, (_, index) => `S${index + 1}`));
  });

  it("names a test for each, or the reason why it does not apply", () => {
    for (const { id, row } of rows) {
      const applies = !row.includes("Does not apply: ");
      expect([id, row.includes(".test.ts)")]).toEqual([id, applies]);
    }
  });

  it("links files that exist, and tests that are there under the very title", () => {
    expect(tests.length).toBeGreaterThan(60);
    for (const { title, link } of tests) {
      const source = existsSync(at(link)) ? readFileSync(at(link), "utf8") : "";
      const isThere = ['"', "'", "`"].some((quote) => source.includes(quote + title + quote));
      expect({ link, title, isThere }).toEqual({ link, title, isThere: true });
    }
    for (const [, link] of text.matchAll(/\]\((\.\.?\/[^)#]+)\)/g))
      expect([link, existsSync(at(String(link)))]).toEqual([link, true]);
    for (const [, anchor] of text.matchAll(/\]\(#([^)]+)\)/g))
      expect(text.toLowerCase()).toContain(`\n## ${anchor?.replaceAll("-", " ")}\n`);
  });

  it("lists the scenarios of the official suite that run, and its version", () => {
    const source = readFileSync(at("../test/e2e/conformance.test.ts"), "utf8");
    const modern = /const modern = \[([^\]]+)\]/.exec(source)?.[1] ?? "";
    const run = [...modern.matchAll(/"([^"]+)"/g)].map(([, name]) => name);
    const listed = [...text.matchAll(/^- `([\w-]+)`$/gm)].map(([, name]) => name);
    expect(run.length).toBeGreaterThan(10);
    expect(listed).toEqual([...run, "tools-call-elicitation"]);
    const foreign = JSON.parse(readFileSync(at("../test/foreign/package.json"), "utf8"));
    expect(text).toContain(
      `\`@modelcontextprotocol/conformance\` ${foreign.dependencies["@modelcontextprotocol/conformance"]} `,
    );
  });
});
