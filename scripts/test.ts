import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { buildIfNeeded } from "./build";
import { ensureChromium } from "./chromium";
import { ensureGenerated } from "./generate";

// Everything that must hold, from a fresh checkout: types, lint, unit, integration and end-to-end tests, and what must hold whatever dies.
// Installs what it lacks. With words, which choose test files, without the last.
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
const faults = process.argv.length > 2 ? { passed: 0, failed: 0 } : runFaults();

for (const failure of failures) process.stdout.write(`FAILED ${failure}\n`);
const failed = counts.failed + faults.failed + failures.length;
process.stdout.write(`${counts.passed + faults.passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && counts.passed > 0 ? 0 : 1;

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

/** Its last line counts its guarantees; without that line it has failed. */
function runFaults(): { passed: number; failed: number } {
  const words = ["--import", "tsx", "--import", "./scripts/ready.ts", "scripts/test-faults.ts"];
  const { stdout } = spawnSync(process.execPath, words, {
    stdio: ["inherit", "pipe", "inherit"],
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  process.stdout.write(stdout);
  const [, passed, failed] = /(\d+) passed, (\d+) failed\n$/.exec(stdout) ?? [];
  return passed === undefined ? { passed: 0, failed: 1 } : { passed: Number(passed), failed: Number(failed) };
}

function readCounts(): { passed: number; failed: number } {
  try {
    return JSON.parse(readFileSync("test-output/counts.json", "utf8")) as { passed: number; failed: number };
  } catch {
    return { passed: 0, failed: 1 };
  }
}
