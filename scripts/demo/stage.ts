import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type ApiClient, createApiClient } from "@countersign/mcp";
import { type CrmServer, startCrmServer } from "@/examples/crm-server/start";
import { createKey } from "@/lib/api-keys/create";
import { addClient } from "@/lib/clients/add";
import { setPolicy } from "@/lib/clients/set-policy";
import { removeEmbedded } from "@/lib/embedded/remove";
import { randomCharacters } from "@/lib/ids/new-id";
import { startService } from "@/lib/service/start";
import { addUser } from "@/lib/users/add";
import { buildIfNeeded } from "../build";
import { startServerProcess } from "../server-process";

export type Stage = {
  url: string;
  clientId: string;
  api: ApiClient;
  crm: CrmServer;
  /** What the agent's requests carry: it stands for the person who is signed in to the chat app. */
  token: string;
  person: { email: string; password: string };
  stop(): Promise<void>;
};

/** Everything that the demo needs, in a folder of its own that goes with it. */
export async function startStage(): Promise<Stage> {
  await buildIfNeeded();
  const dataDir = await mkdtemp(path.join(tmpdir(), "countersign-demo-"));
  const server = await startServerProcess({
    env: { COUNTERSIGN_DATA_DIR: dataDir, LOG_LEVEL: "warn" },
    logFile: path.join(dataDir, "server.log"),
  });
  const person = { email: "ada@example.com", password: `demo-${randomCharacters(12)}` };
  const { clientId, apiKey, subject } = await register(server.config, person);
  const token = `demo-token-${randomCharacters(26)}`;
  const crm = await startCrmServer({
    gate: { url: server.url, apiKey, clientId },
    tokens: { [token]: { ...subject, clientId: "demo-chat" } },
  });
  return {
    url: server.url,
    clientId,
    api: createApiClient({ url: server.url, apiKey }),
    crm,
    token,
    person,
    stop: async () => {
      await crm.close();
      await server.kill("SIGTERM");
      await removeEmbedded(dataDir);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** A person, an MCP server and its key, as `countersign users add`, `clients add` and `keys create` make them. */
async function register(config: Parameters<typeof startService>[0], person: Stage["person"]) {
  const actor = { kind: "admin", via: "cli" } as const;
  const { service, stop } = await startService({ ...config, logLevel: "warn" });
  const { iss, sub } = await addUser(service, { ...person, name: "Ada" }, actor);
  const { clientId } = await addClient(service, { name: "CRM server" }, actor);
  // The demo may ask for the same again right after a decline; a real client is refused for ten minutes.
  await setPolicy(service, clientId, { declineCooldownSeconds: 0 }, actor);
  const { apiKey } = await createKey(service, { clientId }, actor);
  await stop();
  return { clientId, apiKey, subject: { iss, sub } };
}
