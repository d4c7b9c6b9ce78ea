import { spawn } from "node:child_process";
import path from "node:path";

export type Finished = { code: number | null; stdout: string; stderr: string };
export type CommandLine = {
  /** Runs `countersign ARGS` to its end with `input` on standard input. */
  run(args: string[], input?: string, env?: Record<string, string>): Promise<Finished>;
  /** As `run` with `--json`: the object on standard output. Throws where the command failed. */
  ask<T>(args: string[], input?: string): Promise<T>;
  /** As `run` with `--json`, for a command that fails: its exit code and the error on standard error. */
  fail(args: string[], input?: string): Promise<{ code: number | null; error: { code: string; message: string } }>;
  /** Everything that every command so far wrote to standard error. */
  complaints(): string;
};

const launcher = path.resolve(import.meta.dirname, "../../cli/countersign.mjs");

/** The command line as an operator calls it: a process of its own with nothing of ours in its environment. */
export function commandLine(environment: Record<string, string>): CommandLine {
  const complaints: string[] = [];

  function run(args: string[], input = "", env: Record<string, string> = {}): Promise<Finished> {
    const child = spawn(process.execPath, [launcher, ...args], {
      env: { PATH: process.env["PATH"], NODE_ENV: "production", ...environment, ...env },
    });
    const read = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (chunk: string) => {
        read[name] += chunk;
      });
    }
    child.stdin.on("error", () => undefined); // a command that wants no input may end before it was written
    child.stdin.end(input);
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => {
        complaints.push(read.stderr);
        resolve({ code, ...read });
      });
    });
  }

  async function ask<T>(args: string[], input?: string): Promise<T> {
    const { code, stdout, stderr } = await run([...args, "--json"], input);
    if (code !== 0) throw new Error(`countersign ${args.join(" ")} ended with ${code}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  async function fail(args: string[], input?: string) {
    const { code, stdout, stderr } = await run([...args, "--json"], input);
    if (stdout !== "") throw new Error(`a failure wrote to standard output: ${stdout}`);
    const { error } = JSON.parse(stderr) as { error: { code: string; message: string } };
    return { code, error };
  }

  return { run, ask, fail, complaints: () => complaints.join("\n") };
}
