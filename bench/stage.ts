import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
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
import { type ServerProcess, startServerProcess } from "@/scripts/server-process";
import { addPerson, type Person, signIn } from "@/test/support/actors";
import { type Started, startScript } from "./start-script";

export type BenchClient = { clientId: string; approvalsUrl: string; headers: Record<string, string> };
export type BenchPerson = Person & Awaited<ReturnType<typeof signIn>>;

export type BenchStage = {
  readonly server: ServerProcess;
  /** The same service in this process, for what a person's browser would know. */
  service: Service;
  bare: Started;
  /** The address of the database that both work on, as the owner of its tables. */
  databaseUrl: string;
  /** Twelve, for at most 500 waits of each are parked. */
  clients: BenchClient[];
  /** Signed in. Many, for the approvals of one person are counted at each mint. */
  people: BenchPerson[];
  /** Another process in its place, at the same address, that has done nothing yet. */
  restartServer(): Promise<void>;
  /** Where the other processes write what they have to say. */
  otherLogFile: string;
  /** The end of what the process, and the others, have logged: warnings and errors. */
  readLogs(): Promise<string>;
  /** Has something more ended by `stop`, before the rest. */
  onStop(end: () => Promise<unknown>): void;
  stop(): Promise<void>;
};

/** A throw-away database, the built process and the bare server on it, clients without tight limits, people who are signed in. */
export async function startBenchStage(): Promise<BenchStage> {
  const dataDir = await mkdtemp(path.join(tmpdir(), "countersign-bench-"));
  const ending: (() => Promise<unknown>)[] = [
    () => removeEmbedded(dataDir),
    () => rm(dataDir, { recursive: true, force: true }),
  ];
  const stop = async () => {
    for (const end of ending) await end();
  };
  try {
    const database = await startEmbedded({ dataDir, log: { info: () => {}, warn: () => {} } });
    ending.unshift(() => database.stop());
    const env = {
      DATABASE_URL: database.url,
      COUNTERSIGN_SECRET: randomBytes(32).toString("hex"),
      LOG_LEVEL: "warn",
      // Where the bench receives webhooks.
      OUTBOUND_ALLOW: "127.0.0.1",
    };
    const logFile = path.join(dataDir, "server.log");
    const otherLogFile = path.join(dataDir, "others.log");
    let server = await startServerProcess({ env, logFile });
    ending.unshift(() => server.kill("SIGTERM"));
    const { service, stop: stopService } = await startService(server.config, { log: pino({ level: "silent" }) });
    ending.unshift(stopService);
    const bare = await startScript("bare-server.ts", { env: { DATABASE_URL: database.url }, logFile: otherLogFile });
    ending.unshift(() => bare.stop());
    const clients = await Promise.all(Array.from({ length: 12 }, () => addBenchClient(service, server.url)));
    const people = await Promise.all(Array.from({ length: 40 }, () => addBenchPerson(service)));
    return {
      get server() {
        return server;
      },
      service,
      bare,
      databaseUrl: database.url,
      clients,
      people,
      restartServer: async () => {
        await server.kill("SIGTERM");
        server = await startServerProcess({ env: { ...env, PORT: String(server.config.port) }, logFile });
      },
      otherLogFile,
      readLogs: async () => {
        const texts = await Promise.all([logFile, otherLogFile].map((file) => readFile(file, "utf8").catch(() => "")));
        return texts.map((text) => text.slice(-2_000)).join("\n");
      },
      onStop: (end) => ending.unshift(end),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function addBenchClient(service: Service, url: string): Promise<BenchClient> {
  const actor = { kind: "admin", via: "cli" } as const;
  const { clientId } = await addClient(service, { name: "Bench" }, actor);
  await setPolicy(service, clientId, { maxPendingPerSubject: 1_000, maxMintsPerSubjectPerHour: 100_000 }, actor);
  const { apiKey } = await createKey(service, { clientId }, actor);
  return {
    clientId,
    approvalsUrl: `${url}/api/v1/approvals`,
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
  };
}

async function addBenchPerson(service: Service): Promise<BenchPerson> {
  const person = await addPerson(service);
  return { ...person, ...(await signIn(service, person)) };
}

/** The one of them whose turn it is. */
export function at<T>(list: readonly T[], i: number): T {
  const item = list[i % list.length];
  if (item === undefined) throw new Error("the list is empty");
  return item;
}
