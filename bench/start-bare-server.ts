import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";

export type BareServer = { url: string; pid: number; stop(): Promise<void> };

/** Starts `bare-server.ts` in a process of its own, on a free port of 127.0.0.1. */
export async function startBareServer(databaseUrl: string): Promise<BareServer> {
  const child = spawn(process.execPath, ["--import", "tsx", path.join(import.meta.dirname, "bare-server.ts")], {
    env: { ...process.env, DATABASE_URL: databaseUrl, NODE_ENV: "production" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString().trim()));
    child.once("exit", (code) => reject(new Error(`the bare server ended with ${code}`)));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    stop: async () => {
      if (child.exitCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}
