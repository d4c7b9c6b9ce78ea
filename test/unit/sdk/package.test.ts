import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";

const folder = path.resolve(import.meta.dirname, "../../../sdk");
const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as {
  dependencies: Record<string, string>;
  exports: Record<string, { types: string; default: string }>;
};
type Packed = { size: number; files: { path: string }[] };
let packed: Packed;

beforeAll(() => {
  execFileSync("npm", ["run", "--silent", "build"], { cwd: folder });
  const [first] = JSON.parse(
    execFileSync("npm", ["pack", "--dry-run", "--json"], { cwd: folder, encoding: "utf8" }),
  ) as [Packed];
  packed = first;
}, 60_000);

describe("the package", () => {
  it("is at most 100 KB, with code and types of every entry", () => {
    expect(packed.size).toBeLessThanOrEqual(100_000);
    const paths = packed.files.map((file) => file.path);
    for (const [name, entry] of Object.entries(manifest.exports)) {
      if (typeof entry === "string") continue;
      expect([name, paths]).toEqual([name, expect.arrayContaining([entry.types.slice(2), entry.default.slice(2)])]);
    }
  });

  it("depends on neither Next nor Prisma, nor on the service, and on an MCP SDK only as a peer", () => {
    expect(Object.keys(manifest.dependencies).toSorted()).toEqual(["canonicalize", "jose", "zod"]);
    const imports = new Set<string>();
    for (const { path: file } of packed.files.filter((one) => one.path.endsWith(".js")))
      for (const [, from] of readFileSync(path.join(folder, file), "utf8").matchAll(/\bfrom "([^".][^"]*)"/g))
        imports.add(
          String(from)
            .split("/")
            .slice(0, String(from).startsWith("@") ? 2 : 1)
            .join("/"),
        );
    const allowed = ["canonicalize", "jose", "zod", "@modelcontextprotocol/server", "@modelcontextprotocol/sdk"];
    expect([...imports].filter((name) => !name.startsWith("node:") && !allowed.includes(name))).toEqual([]);
  });

  it("runs for whoever has one of the two SDKs: the entry of one imports nothing of the other", () => {
    const loaded = (entry: string, seen = new Set<string>()): Set<string> => {
      if (seen.has(entry)) return seen;
      seen.add(entry);
      const code = readFileSync(path.join(folder, "dist", entry), "utf8");
      for (const [, from] of code.matchAll(/\bfrom "([^"]+)"/g)) {
        const to = String(from);
        if (to.startsWith(".")) loaded(path.join(path.dirname(entry), to), seen);
        else seen.add(to);
      }
      return seen;
    };
    expect([...loaded("v1.js")].filter((name) => name.startsWith("@modelcontextprotocol/server"))).toEqual([]);
    expect([...loaded("main.js")].filter((name) => name.startsWith("@modelcontextprotocol/sdk"))).toEqual([]);
    expect([...loaded("fake.js")].filter((name) => name.startsWith("@modelcontextprotocol"))).toEqual([]);
  });
});
