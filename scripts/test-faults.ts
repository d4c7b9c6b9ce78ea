import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { startVitest, type Vitest } from "vitest/node";
import { buildIfNeeded } from "./build";

// What must hold whatever dies: `test/faults`, over the built processes. `FAULT_SEED` and `FAULT_RUNS` are read there; further words choose
// test files. Ends with `N passed, N failed`, where each test is a guarantee, and within ten minutes, if need be as a failure.
const root = path.resolve(import.meta.dirname, "..");
process.chdir(root);
const deadlineMs = 600_000;

await buildIfNeeded();
setTimeout(giveUp, deadlineMs).unref();
const vitest = await startVitest(
  "test",
  process.argv.slice(2),
  {
    config: false,
    watch: false,
    root,
    include: ["test/faults/**/*.test.ts"],
    globalSetup: ["test/support/cluster.ts"],
    reporters: ["default"],
    fileParallelism: false,
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
  {
    resolve: {
      alias: [
        { find: /^@\//, replacement: `${root}/` },
        { find: /^@countersign\/mcp\/(.*)$/, replacement: path.join(root, "sdk/src/$1.ts") },
      ],
    },
  },
);
const { passed, failed } = countTests(vitest);
await vitest.close();
finish(passed, failed);

function countTests({ state }: Vitest): { passed: number; failed: number } {
  const tests = state.getTestModules().flatMap((module) => [...module.children.allTests()]);
  const passed = tests.filter((test) => test.result().state === "passed").length;
  const outside =
    state.getUnhandledErrors().length + state.getTestModules().flatMap((module) => module.errors()).length;
  // What was skipped, because what comes before it failed, is not proved.
  return { passed, failed: tests.length - passed + outside };
}

function finish(passed: number, failed: number): never {
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  process.exit(failed === 0 && passed > 0 ? 0 : 1);
}

/** The processes that tests have started have groups of their own and would go on. */
function giveUp(): never {
  process.stdout.write(`FAILED the fault suite was not over within ${deadlineMs / 1000} s\n`);
  const pidFile = "test-output/faults/pids";
  const pids = existsSync(pidFile) ? readFileSync(pidFile, "utf8").split("\n").filter(Boolean) : [];
  for (const pid of pids) {
    try {
      if (readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("dist/server.js")) process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended.
    }
  }
  return finish(0, 1);
}
