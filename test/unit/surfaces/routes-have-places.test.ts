import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type Surface, surfaces } from "@/lib/surfaces/parse";
import { routeTarget } from "@/lib/surfaces/route";

const files = readdirSync("app", { recursive: true, encoding: "utf8" });
const withId = (pattern: string) => pattern.replaceAll(/\[(?:\.\.\.)?\w+\]|:\w+/g, "x");

/** The addresses of the pages and route handlers that Next has, from where their files lie. */
const pages = files
  .filter((file) => /(?:^|\/)(?:page\.tsx|route\.ts)$/.test(file))
  .map((file) => `/${path.dirname(file) === "." ? "" : withId(path.dirname(file))}`);
/** Those of the forms that the process answers itself, from their tables. */
const forms = files
  .filter((file) => /\/forms\.ts$/.test(file))
  .flatMap((file) => [...readFileSync(path.join("app", file), "utf8").matchAll(/^ {2}"(\/[^"]+)":/gm)])
  .map(([, pattern = ""]) => withId(pattern));

const placesOf = (target: string): Surface[] =>
  surfaces.filter((surface) => routeTarget(target, new Set([surface])).target === target);

describe("the table of surfaces", () => {
  it("has every page, route handler and form of the application", () => {
    expect([pages.length > 10, forms.length > 10]).toEqual([true, true]);
    expect([...pages, ...forms].filter((target) => placesOf(target).length === 0)).toEqual([]);
  });

  it("has pages of admins and auditors nowhere else", () => {
    for (const target of [...pages, ...forms])
      for (const surface of ["admin", "audit"] as const)
        if (new RegExp(`^/${surface}(?:/|$)`).test(target))
          expect([target, placesOf(target)]).toEqual([target, [surface]]);
  });
});
