import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Finished } from "./command-line";

export type PythonRaised = { type: string; message: string; trace: string; [attribute: string]: unknown };
export type PythonAnswer = {
  returned?: unknown;
  raised?: PythonRaised;
  link?: { id: string; elicitation: { url: string; message: string } };
  runs?: { approvalId: string; arguments: Record<string, unknown>; note: string | null }[];
};
export type PythonClient = {
  /** Calls a method of the client, `do`, or drives it: `open`, `canonical`, `run`. Lines may be sent while a run waits for one. */
  ask(command: Record<string, unknown>): Promise<PythonAnswer>;
  close(): Promise<void>;
};

const root = path.resolve(import.meta.dirname, "../..");

/** Runs a script of the repository to its end. */
export async function runPython(
  script: string,
  args: string[] = [],
  options: { env?: Record<string, string>; onLine?: (line: string) => void } = {},
): Promise<Finished> {
  const child = await startPython(script, args, options.env);
  const read = { stdout: "", stderr: "" };
  child.stderr.on("data", (chunk: string) => {
    read.stderr += chunk;
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    read.stdout += `${line}\n`;
    options.onLine?.(line);
  });
  child.stdin.end();
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, ...read })));
}

/** The Python client in a process of its own. */
export async function openPythonClient(
  options: { url: string; apiKey: string; late?: boolean },
  env: Record<string, string> = {},
): Promise<PythonClient & { opened: PythonAnswer }> {
  const child = await startPython("test/support/python_client.py", [], env);
  let stderr = "";
  child.stderr.on("data", (chunk: string) => {
    stderr += chunk;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const ask: PythonClient["ask"] = async (command) => {
    child.stdin.write(`${JSON.stringify(command)}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error(`python3 ended: ${stderr}`);
    return JSON.parse(value) as PythonAnswer;
  };
  const opened = await ask({ do: "open", ...options });
  return {
    opened,
    ask,
    close: async () => {
      child.stdin.end();
      await closed;
    },
  };
}

/** Fails, and skips nothing, where there is no Python: what the example promises would be untested. */
async function startPython(
  script: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<ChildProcessWithoutNullStreams> {
  const child = spawn("python3", [path.join(root, script), ...args], {
    env: {
      PATH: process.env["PATH"],
      NODE_ENV: "test",
      PYTHONDONTWRITEBYTECODE: "1",
      PYTHONIOENCODING: "utf-8",
      ...env,
    },
  });
  child.stdout.setEncoding("utf8");
  child.stderr.setEncoding("utf8");
  child.stdin.on("error", () => undefined); // it may end before all was written
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (cause) => {
      reject(new Error("python3 is not on the PATH. These tests need Python 3.9 or newer; install it.", { cause }));
    });
  });
  return child;
}
