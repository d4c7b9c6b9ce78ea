import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { createKey } from "@/lib/api-keys/create";
import { addClient } from "@/lib/clients/add";
import { setPolicy } from "@/lib/clients/set-policy";
import { removeEmbedded } from "@/lib/embedded/remove";
import { startEmbedded } from "@/lib/embedded/start";
import type { Service } from "@/lib/process";
import { startService } from "@/lib/service/start";
import { buildIfNeeded } from "@/scripts/build";
import { type ServerProcess, startServerProcess } from "@/scripts/server-process";
import { addPerson, type Person, signIn } from "@/test/support/actors";

export type BenchStage = {
  server: ServerProcess;
  service: Service;
  bareUrl: string;
  keys: string[];
  person: Person;
  signedIn: Awaited<ReturnType<typeof signIn>>;
  stop(): Promise<void>;
};

/** The built process, the bare server beside it on the same PostgreSQL, twelve clients without tight limits, one person. */
export async function startBenchStage(): Promise<BenchStage> {
  await buildIfNeeded();
  const dataDir = await mkdtemp(path.join(tmpdir(), "countersign-bench-"));
  const database = await startEmbedded({ dataDir, log: { info: () => {}, warn: () => {} } });
  const env = { DATABASE_URL: database.url, COUNTERSIGN_SECRET: randomBytes(32).toString("hex"), LOG_LEVEL: "warn" };
  const server = await startServerProcess({ env, logFile: path.join(dataDir, "server.log") });
  const { service, stop } = await startService(server.config, { log: pino({ level: "silent" }) });
  const person = await addPerson(service);
  const bare = await startBare(database.url);
  return {
    server,
    service,
    bareUrl: bare.url,
    keys: await Promise.all(Array.from({ length: 12 }, () => addKey(service))),
    person,
    signedIn: await signIn(service, person),
    stop: async () => {
      bare.kill();
      await stop();
      await server.kill("SIGTERM");
      await database.stop();
      await removeEmbedded(dataDir);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function addKey(service: Service): Promise<string> {
  const actor = { kind: "admin", via: "cli" } as const;
  const { clientId } = await addClient(service, { name: "Bench" }, actor);
  await setPolicy(service, clientId, { maxPendingPerSubject: 1_000, maxMintsPerSubjectPerHour: 100_000 }, actor);
  return (await createKey(service, { clientId }, actor)).apiKey;
}

async function startBare(databaseUrl: string): Promise<{ url: string; kill(): void }> {
  const child = spawn(process.execPath, ["--import", "tsx", path.join(import.meta.dirname, "bare-server.ts")], {
    env: { ...process.env, DATABASE_URL: databaseUrl, NODE_ENV: "production" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString().trim()));
    child.once("exit", (code) => reject(new Error(`the bare server ended with ${code}`)));
  });
  return { url: `http://127.0.0.1:${port}/`, kill: () => void child.kill("SIGTERM") };
}
