import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { type Config, parseConfig } from "@/lib/config";

export type ServerProcess = {
  url: string;
  config: Config;
  pid: number;
  /** Sends a signal and resolves with the exit code. */
  kill(signal: NodeJS.Signals): Promise<number | null>;
};

/**
 * Starts the built process (`dist/server.js`) with these settings, on a free port unless `PORT` is among them, and waits until it is
 * ready. What it prints goes to `logFile`.
 */
export async function startServerProcess(options: {
  env: Record<string, string>;
  logFile: string;
}): Promise<ServerProcess> {
  const port = options.env["PORT"] ?? String(await freePort());
  const env = { COUNTERSIGN_URL: `http://localhost:${port}`, ...options.env, PORT: port };
  mkdirSync(path.dirname(options.logFile), { recursive: true });
  const log = createWriteStream(options.logFile);
  const child = spawn(process.execPath, [path.resolve(import.meta.dirname, "../dist/server.js")], {
    cwd: path.resolve(import.meta.dirname, ".."),
    env: { ...process.env, ...env, NODE_ENV: "production" },
    stdio: ["ignore", "pipe", "pipe"],
    // Of its own group: Ctrl-C ends whoever started it, who then ends it in order.
    detached: true,
  });
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  await untilReady(child, `http://localhost:${port}/readyz`, options.logFile);
  return {
    url: env.COUNTERSIGN_URL,
    config: parseConfig(env),
    pid: child.pid ?? 0,
    kill: (signal) =>
      new Promise((resolve) => {
        if (child.exitCode !== null) return resolve(child.exitCode);
        child.once("exit", (code) => resolve(code));
        child.kill(signal);
      }),
  };
}

async function untilReady(child: ChildProcess, url: string, logFile: string): Promise<void> {
  const endsAt = Date.now() + 60_000;
  while (Date.now() < endsAt) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}; ${logFile} says why`);
    const isReady = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (isReady) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  child.kill("SIGKILL");
  throw new Error(`the server was not ready in time; ${logFile} says why`);
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return typeof address === "object" && address ? address.port : 0;
}
