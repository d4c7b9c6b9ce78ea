import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "../../..");
const pages = [
  ...["README.md", "SECURITY.md", "CONTRIBUTING.md", "sdk/README.md"],
  ...readdirSync(path.join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];
/** As GitHub names a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

it.each(pages)("%s links to what is there", (page) => {
  const text = readFileSync(path.join(root, page), "utf8");
  for (const [, link] of text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
    const [file = "", anchor] = String(link).split("#");
    const target = file === "" ? path.join(root, page) : path.resolve(root, path.dirname(page), file);
    expect([link, existsSync(target)]).toEqual([link, true]);
    if (anchor === undefined) continue;
    const anchors = [...readFileSync(target, "utf8").matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      anchorOf(String(heading)),
    );
    expect([link, anchors]).toEqual([link, expect.arrayContaining([anchor])]);
  }
});
