import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { ensureGenerated } from "./generate";

const root = path.resolve(import.meta.dirname, "..");

/** Builds the pages (`.next`), and the process (`dist/server.js`). */
export async function buildAll(): Promise<void> {
  ensureGenerated();
  const pages = spawnSync(process.execPath, [path.join(root, "node_modules/next/dist/bin/next"), "build"], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: "1" },
  });
  if (pages.status !== 0) throw new Error("next build failed");
  await build({
    absWorkingDir: root,
    entryPoints: { server: "server.ts" },
    outdir: "dist",
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    sourcemap: true,
    logLevel: "warning",
  });
}

/** Builds where something is missing or older than a source file. */
export async function buildIfNeeded(): Promise<void> {
  const built = [path.join(root, "dist/server.js"), path.join(root, ".next/BUILD_ID")];
  const builtAt = Math.min(...built.map((file) => (existsSync(file) ? statSync(file).mtimeMs : 0)));
  if (newestSource() > builtAt) await buildAll();
}

const sources = [
  "app",
  "lib",
  "prisma",
  "cli",
  "sdk/src",
  "scripts",
  "middleware.ts",
  "server.ts",
  "next.config.ts",
  "package-lock.json",
];

function newestSource(): number {
  const newest = (file: string): number => {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat) return 0;
    if (!stat.isDirectory()) return stat.mtimeMs;
    return Math.max(0, ...readdirSync(file).map((name) => newest(path.join(file, name))));
  };
  return Math.max(...sources.map((name) => newest(path.join(root, name))));
}

if (process.argv[1] === import.meta.filename) await buildAll();
