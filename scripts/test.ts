import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { buildIfNeeded } from "./build";
import { ensureChromium } from "./chromium";
import { ensureGenerated } from "./generate";

// Everything that must hold, from a fresh checkout: types, lint, unit, integration and end-to-end tests. Installs what it lacks.
const root = path.resolve(import.meta.dirname, "..");
process.chdir(root);
rmSync("test-output", { recursive: true, force: true });

const failures: string[] = [];
stage("generate", ensureGenerated);
stage(
  "types",
  () => run("node_modules/next/dist/bin/next", ["typegen"]) && run("node_modules/typescript/bin/tsc", ["--noEmit"]),
);
stage("lint", () => run("node_modules/@biomejs/biome/bin/biome", ["check", "."]));
stage("browser", ensureChromium);
await buildIfNeeded().catch((error: Error) => failures.push(`build: ${error.message}`));
const tests = spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...process.argv.slice(2)], {
  stdio: "inherit",
});
const counts = readCounts();
if (tests.status !== 0 && counts.failed === 0) failures.push("vitest did not end well");

for (const failure of failures) process.stdout.write(`FAILED ${failure}\n`);
process.stdout.write(`${counts.passed} passed, ${counts.failed + failures.length} failed\n`);
process.exitCode = counts.failed + failures.length === 0 && counts.passed > 0 ? 0 : 1;

function stage(name: string, work: () => unknown): void {
  try {
    if (work() === false) failures.push(name);
  } catch (error) {
    failures.push(`${name}: ${(error as Error).message}`);
  }
}

function run(script: string, args: string[]): boolean {
  return (
    spawnSync(process.execPath, [script, ...args], {
      stdio: "inherit",
      env: { ...process.env, NEXT_TELEMETRY_DISABLED: "1" },
    }).status === 0
  );
}

function readCounts(): { passed: number; failed: number } {
  try {
    return JSON.parse(readFileSync("test-output/counts.json", "utf8")) as { passed: number; failed: number };
  } catch {
    return { passed: 0, failed: 1 };
  }
}
