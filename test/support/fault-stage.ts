import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { createKey } from "@/lib/api-keys/create";
import { addClient } from "@/lib/clients/add";
import { setPolicy } from "@/lib/clients/set-policy";
import { parseConfig } from "@/lib/config";
import { removeEmbedded } from "@/lib/embedded/remove";
import { startEmbedded } from "@/lib/embedded/start";
import type { Service } from "@/lib/process";
import { startService } from "@/lib/service/start";
import { addEndpoint } from "@/lib/webhooks/add-endpoint";
import { addPerson, type Person, signIn } from "./actors";
import { type Chaos, startChaos } from "./fault-chaos";
import { clientCount, type FaultPlan, personCount } from "./fault-plan";
import { type FaultProxy, startFaultProxy } from "./fault-proxy";
import { createRandom } from "./fault-random";
import { type FaultReceiver, startFaultReceiver } from "./fault-receiver";
import { type Replica, superviseReplica } from "./fault-replica";
import { freePorts } from "./free-port";

export type FaultClient = { clientId: string; apiKey: string };
export type FaultPerson = Person & { cookie: string };

export type FaultStage = {
  folder: string;
  effectsFile: string;
  /** As the owner of the tables. */
  databaseUrl: string;
  replicas: Replica[];
  proxy: FaultProxy;
  receiver: FaultReceiver;
  chaos: Chaos;
  issuer: string;
  clients: FaultClient[];
  people: FaultPerson[];
  stop(): Promise<void>;
};

const actor = { kind: "admin", via: "cli" } as const;

/** Where this run of the suite writes what happened; the newest only. */
export const faultFolder = "test-output/faults";

/** A database of its own, two replicas behind the proxy, MCP servers with an endpoint each, people who are signed in. Chaos begins with the first request. */
export async function startFaultStage(plan: FaultPlan): Promise<FaultStage> {
  const folder = path.resolve(faultFolder);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const effectsFile = path.join(folder, "effects.log");
  writeFileSync(effectsFile, "");
  const ending: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    process.off("SIGTERM", end);
    for (const each of ending.splice(0)) await each();
  };
  // Of the suite, when its time is up. The test runner does not let its worker exit.
  const end = () => void stop().finally(() => process.kill(process.pid, "SIGKILL"));
  process.once("SIGTERM", end);
  try {
    const dataDir = await mkdtemp(path.join(tmpdir(), "countersign-faults-"));
    ending.unshift(() => rm(dataDir, { recursive: true, force: true }));
    const database = await startEmbedded({ dataDir, log: { info: () => {}, warn: () => {} } });
    ending.unshift(() => removeEmbedded(dataDir));
    ending.unshift(() => database.stop());
    const [proxyPort = 0, ...ports] = await freePorts(3);
    const env = envFor(database, proxyPort);
    const { service, stop: stopService } = await startService(parseConfig(env), {
      migrate: true,
      log: pino({ level: "silent" }),
    });
    let chaos: Chaos | undefined;
    const receiver = await startFaultReceiver(createRandom(plan.seed, "receiver"), () => chaos?.onDelivery());
    ending.unshift(() => receiver.stop());
    const { clients, people } = await addActors(service, receiver).finally(stopService);
    const replicas = ports.map((port, i) =>
      superviseReplica({
        port,
        env,
        logFile: path.join(folder, `replica-${i}.log`),
      }),
    );
    ending.unshift(() => Promise.all(replicas.map((replica) => replica.stop())));
    const proxy = await startFaultProxy({
      port: proxyPort,
      targets: ports,
      onExchange: (exchange) => chaos?.onExchange(exchange),
    });
    ending.unshift(() => proxy.stop());
    await proxy.untilHealthy(replicas.length);
    chaos = startChaos({ faults: plan.faults, replicas, databaseUrl: database.url });
    const { issuer } = service;
    return {
      folder,
      effectsFile,
      databaseUrl: database.url,
      replicas,
      proxy,
      receiver,
      chaos,
      issuer,
      clients,
      people,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function envFor(database: { url: string; serviceUrl: string }, proxyPort: number): Record<string, string> {
  return {
    DATABASE_URL: database.serviceUrl,
    DATABASE_OWNER_URL: database.url,
    COUNTERSIGN_SECRET: randomBytes(32).toString("hex"),
    COUNTERSIGN_URL: `http://localhost:${proxyPort}`,
    COUNTERSIGN_NAME: "Example Corp",
    OUTBOUND_ALLOW: "127.0.0.1/32",
    TRUSTED_PROXIES: "127.0.0.1,::1",
    LOG_LEVEL: "info",
  };
}

async function addActors(service: Service, receiver: FaultReceiver) {
  const clients: FaultClient[] = [];
  for (let i = 0; i < clientCount; i += 1) {
    const { clientId } = await addClient(service, { name: `MCP server ${i}` }, actor);
    await setPolicy(service, clientId, { maxPendingPerSubject: 500, maxMintsPerSubjectPerHour: 10_000 }, actor);
    const { apiKey } = await createKey(service, { clientId }, actor);
    const url = receiver.urlFor(clientId);
    receiver.setSecret(clientId, (await addEndpoint(service, { clientId, url, events: [] }, actor)).secret);
    clients.push({ clientId, apiKey });
  }
  const people: FaultPerson[] = [];
  for (let i = 0; i < personCount; i += 1) {
    const person = await addPerson(service, `Person${i}`);
    const { cookie } = await signIn(service, person);
    people.push({ ...person, cookie });
  }
  return { clients, people };
}
