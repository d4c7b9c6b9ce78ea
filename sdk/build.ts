import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { transformSync } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "dist");

/**
 * Builds `dist`: tsc writes JavaScript and declarations file by file, and then every relative import is given the extension that
 * Node and TypeScript's `nodenext` ask for and that the sources leave out.
 */
function build(): void {
  rmSync(dist, { recursive: true, force: true });
  const manifest = createRequire(import.meta.url).resolve("typescript/package.json");
  const tsc = join(dirname(manifest), "bin", "tsc");
  execFileSync(process.execPath, [tsc, "-p", join(here, "tsconfig.build.json")], { stdio: "inherit" });
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const text = entry.name.endsWith(".js") ? withoutComments(readFileSync(file, "utf8")) : readFileSync(file, "utf8");
    writeFileSync(file, text.replace(/(\bfrom |\bimport\(|\bimport )"(\.\.?\/[\w/-]+)"/g, '$1"$2.js"'));
  }
}

/** Who reads the code reads the sources or the declarations, which keep them. */
function withoutComments(code: string): string {
  return transformSync(code, { target: "es2022", legalComments: "none", charset: "utf8" }).code;
}

build();
