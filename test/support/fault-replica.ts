import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, mkdirSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../..");

export type Replica = {
  port: number;
  pid(): number | undefined;
  /** False where there is no process to get it. */
  signal(signal: NodeJS.Signals): boolean;
  /** How often it was started, and how each process ended: a signal, or an exit code. */
  starts(): number;
  ends: { by: NodeJS.Signals | number; wasReady: boolean }[];
  /** Starts the next process when this one ends; at first it does. */
  setRestarting(isRestarting: boolean): void;
  start(): void;
  /** Resolves with the exit code of the process that runs. */
  ended(): Promise<number | null>;
  stop(): Promise<void>;
};

/** The built process, started again whenever it ends, as systemd or an orchestrator would. */
export function superviseReplica(options: { port: number; env: Record<string, string>; logFile: string }): Replica {
  const { port, logFile } = options;
  mkdirSync(path.dirname(logFile), { recursive: true });
  const log = createWriteStream(logFile, { flags: "a" });
  let child: ChildProcess | undefined;
  let isRestarting = true;
  let starts = 0;
  const ends: Replica["ends"] = [];
  const start = () => {
    starts += 1;
    const startedAt = Date.now();
    const env = { ...process.env, ...options.env, PORT: String(port), NODE_ENV: "production" as const };
    const started = spawn(process.execPath, [path.join(root, "dist/server.js")], {
      cwd: root,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    child = started;
    let wasReady = false;
    started.stdout.on("data", (text: Buffer) => {
      wasReady ||= text.includes("Countersign is ready");
      log.write(text);
    });
    started.stderr.on("data", (text: Buffer) => {
      wasReady ||= text.includes("Countersign is ready");
      log.write(text);
    });
    started.once("exit", (code, signal) => {
      ends.push({ by: signal ?? code ?? -1, wasReady });
      child = undefined;
      const pauseMs = Math.max(0, 300 - (Date.now() - startedAt));
      setTimeout(() => isRestarting && start(), pauseMs);
    });
  };
  const ended = () =>
    new Promise<number | null>((resolve) => {
      if (child) child.once("exit", (code) => resolve(code));
      else resolve(null);
    });
  start();
  return {
    port,
    pid: () => child?.pid,
    signal: (signal) => child?.kill(signal) ?? false,
    starts: () => starts,
    ends,
    setRestarting: (value) => {
      isRestarting = value;
    },
    start,
    ended,
    stop: async () => {
      isRestarting = false;
      const exit = ended();
      // One that is frozen takes no other signal than these two.
      child?.kill("SIGCONT");
      child?.kill("SIGTERM");
      const cutting = setTimeout(() => child?.kill("SIGKILL"), 15_000);
      await exit;
      clearTimeout(cutting);
      log.end();
    },
  };
}
