import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createWriteStream, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { type Config, parseConfig } from "@/lib/config";

export type RunningServer = {
  url: string;
  config: Config;
  pid: number;
  kill(signal: NodeJS.Signals): Promise<number | null>;
};

/**
 * The real process, built for production, on a free port over `databaseUrl`. What it logs, at every level, goes to `logsDir`.
 * `secret` in hex, so that a second process can share it.
 */
export async function startServer(options: {
  databaseUrl: string;
  secret?: string;
  logsDir: string;
}): Promise<RunningServer> {
  const port = await freePort();
  const secret = options.secret ?? randomBytes(32).toString("hex");
  const env = {
    DATABASE_URL: options.databaseUrl,
    COUNTERSIGN_SECRET: secret,
    COUNTERSIGN_URL: `http://localhost:${port}`,
    PORT: String(port),
    LOG_LEVEL: "trace",
    COUNTERSIGN_NAME: "Example Corp",
  };
  mkdirSync(options.logsDir, { recursive: true });
  const log = createWriteStream(path.join(options.logsDir, `server-${port}.log`));
  const child = spawn(process.execPath, ["dist/server.js"], {
    env: { ...process.env, ...env, NODE_ENV: "production" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.pipe(log);
  child.stderr.pipe(log);
  await untilReady(child, `http://localhost:${port}/readyz`);
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

async function untilReady(child: ChildProcess, url: string): Promise<void> {
  const endsAt = Date.now() + 60_000;
  while (Date.now() < endsAt) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}; its log says why`);
    const isReady = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (isReady) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the server was not ready in time");
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return typeof address === "object" && address ? address.port : 0;
}
