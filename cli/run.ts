import type { Command } from "commander";
import { printResult, type Result } from "./output";

/** Runs what a command does and prints the result; its failures go on to the caller of the program. */
export type Run = (work: () => Promise<Result & { exitCode?: number }>) => Promise<void>;

/** Reads `--json` when a command runs, wherever it stood among the arguments. */
export function createRun(program: Command): Run {
  return async (work) => {
    const result = await work();
    printResult(result, program.opts<{ json?: boolean }>().json === true);
    if (result.exitCode !== undefined) process.exitCode = result.exitCode;
  };
}
