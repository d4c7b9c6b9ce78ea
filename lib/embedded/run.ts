import { spawn } from "node:child_process";
import type { Account } from "./account";

/** How a program ended: exit code (`null` when killed or never started) and the end of what it printed. */
export type RunResult = { code: number | null; output: string };

/** All that PostgreSQL gets as environment: neither our PG* variables nor our secrets. (Next's types demand NODE_ENV.) */
export const SERVER_ENVIRONMENT: NodeJS.ProcessEnv = { LC_ALL: "C", TZ: "UTC", NODE_ENV: "production" };

/**
 * Runs a program to its end, as `account`, in a session of its own (a Ctrl-C in our terminal does not reach it). Never
 * rejects: a program that cannot be started has the reason as its output. Output is kept to its last 8 KiB.
 */
export function run(command: string, args: string[], account: Account | undefined): Promise<RunResult> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      ...account,
      cwd: "/", // any other may be closed to the account
      detached: true,
      env: SERVER_ENVIRONMENT,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    const collect = (chunk: Buffer) => {
      output = (output + chunk.toString("utf8")).slice(-8192);
    };
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    child.on("error", (error) => resolve({ code: null, output: error.message }));
    child.on("close", (code) => resolve({ code, output: output.trim() }));
  });
}
