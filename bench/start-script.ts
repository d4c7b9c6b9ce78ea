import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import path from "node:path";
import type { Readable } from "node:stream";

/** A server that a script of this folder started; `pids` are the processes whose time counts as its own. */
export type Started = { url: string; pids: number[]; stop(): Promise<void> };

/**
 * Runs a script of this folder in a process of its own, as in production, until it says on one line where it listens. Its stderr goes
 * to `logFile`.
 * @throws Error where it ends before that
 */
export async function startScript(
  file: string,
  { env, logFile }: { env: Record<string, string>; logFile: string },
): Promise<Started> {
  const log = openSync(logFile, "a");
  const child = spawn(process.execPath, ["--import", "tsx", path.join(import.meta.dirname, file)], {
    cwd: path.resolve(import.meta.dirname, ".."),
    env: { ...process.env, ...env, NODE_ENV: "production" },
    stdio: ["ignore", "pipe", log],
    // Of its own group: Ctrl-C ends the bench, which then ends it in order.
    detached: true,
  });
  closeSync(log);
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM");
    const killing = setTimeout(() => child.kill("SIGKILL"), 10_000);
    await once(child, "exit");
    clearTimeout(killing);
  };
  try {
    const said = await firstLine(child.stdout, (fail) =>
      child.once("exit", (code) => fail(`${file} ended with ${code}`)),
    );
    const { url, pids } = JSON.parse(said) as { url: string; pids: number[] };
    return { url, pids, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const timeoutMs = 60_000;

function firstLine(stdout: Readable | null, onEnd: (fail: (reason: string) => void) => void): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("it did not listen in time")), timeoutMs);
    const settle = (then: () => void) => {
      clearTimeout(timer);
      then();
    };
    let text = "";
    // Goes on reading after the line, so that the script can go on printing.
    stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const line = text.split("\n").find((one) => one.startsWith("{") && one.endsWith("}"));
      if (line !== undefined) settle(() => resolve(line));
    });
    onEnd((reason) => settle(() => reject(new Error(reason))));
  });
}
