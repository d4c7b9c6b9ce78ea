import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { createVitest, type Vitest } from "vitest/node";
import { buildIfNeeded } from "./build";

// What must hold whatever dies: `test/faults`, over the built processes. `FAULT_SEED` and `FAULT_RUNS` are read there; further words choose
// test files. Ends with `N passed, N failed`, where each test is a guarantee, and within ten minutes (`FAULT_DEADLINE_SECONDS`), if need be
// as a failure.
const root = path.resolve(import.meta.dirname, "..");
process.chdir(root);
const deadlineMs = Number(process.env["FAULT_DEADLINE_SECONDS"] ?? 600) * 1000;

/** Inherited by every process that the tests start, also by those of groups of their own. */
const mark = `FAULT_SUITE=${randomUUID()}`;
process.env["FAULT_SUITE"] = mark.split("=")[1];

await buildIfNeeded();
const vitest = await createVitest(
  "test",
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
let isGivenUp = false;
setTimeout(() => void giveUp(vitest), deadlineMs).unref();
await vitest.start(process.argv.slice(2));
if (!isGivenUp) {
  const { passed, failed } = countTests(vitest);
  await vitest.close();
  finish(passed, failed);
}

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

/** What the tests have started would go on without them: first it is asked to end, then it is ended. */
async function giveUp(vitest: Vitest): Promise<void> {
  isGivenUp = true;
  process.stdout.write(`FAILED the fault suite was not over within ${deadlineMs / 1000} s\n`);
  signalMarked("SIGTERM");
  const endsAt = Date.now() + 30_000;
  while (markedPids().length > 0 && Date.now() < endsAt) await new Promise((resolve) => setTimeout(resolve, 200));
  signalMarked("SIGKILL");
  await Promise.race([vitest.close(), new Promise((resolve) => setTimeout(resolve, 15_000))]);
  finish(0, 1);
}

function signalMarked(signal: NodeJS.Signals): void {
  for (const pid of markedPids()) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended.
    }
  }
}

/** None where the system does not tell (`/proc` is Linux's). */
function markedPids(): number[] {
  const hasMark = (pid: number) => {
    try {
      return pid !== process.pid && readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(mark);
    } catch {
      return false;
    }
  };
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger).filter(hasMark);
  } catch {
    return [];
  }
}
