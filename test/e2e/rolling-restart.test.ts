import { randomBytes } from "node:crypto";
import { createApiClient } from "@countersign/mcp/api-client";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Service } from "@/lib/process";
import { startService } from "@/lib/service/start";
import { addEndpoint } from "@/lib/webhooks/add-endpoint";
import type { ServerProcess } from "@/scripts/server-process";
import { addPerson, addTestClient, mintBody, type Person, signIn, type TestClient } from "@/test/support/actors";
import { createDatabase } from "@/test/support/database";
import { formFor } from "@/test/support/deciding";
import { type FaultProxy, startFaultProxy } from "@/test/support/fault-proxy";
import { freePorts } from "@/test/support/free-port";
import { startServer } from "@/test/support/server";
import { answerWith, startWebhookReceiver, type WebhookReceiver } from "@/test/support/webhook-receiver";

const waitSeconds = 25;
const parkedCount = 12;
/** Of those that are parked, decided only when both replicas are others: they are parked whenever one drains. */
const heldBackCount = 4;

let service: Service;
let stopService: () => Promise<void>;
let servers: ServerProcess[];
let startReplica: (port: number) => Promise<ServerProcess>;
let proxy: FaultProxy;
let receiver: WebhookReceiver;
let endpoint: { endpointId: string; secret: string };
let client: TestClient;
let ada: Person & Awaited<ReturnType<typeof signIn>>;

beforeAll(async () => {
  const [proxyPort = 0, ...ports] = await freePorts(3);
  const shared = { databaseUrl: await createDatabase(), secret: randomBytes(32).toString("hex") };
  const env = {
    COUNTERSIGN_URL: `http://localhost:${proxyPort}`,
    TRUSTED_PROXIES: "127.0.0.1,::1",
    OUTBOUND_ALLOW: "127.0.0.1",
    DRAIN_GRACE_SECONDS: "2",
  };
  startReplica = (port) => startServer({ ...shared, env: { ...env, PORT: String(port) } });
  servers = await Promise.all(ports.map(startReplica));
  proxy = await startFaultProxy({ port: proxyPort, targets: ports, probeMs: 100 });
  await proxy.untilHealthy(2);
  receiver = await startWebhookReceiver();
  // Slow enough that a process which ends has deliveries under way.
  receiver.answer = (received, response, request) => {
    setTimeout(() => answerWith(204)(received, response, request), 300);
  };
  const config = servers[0]?.config;
  if (!config) throw new Error("no server");
  ({ service, stop: stopService } = await startService(config, { log: pino({ level: "silent" }) }));
  client = await addTestClient(service, { maxMintsPerSubjectPerHour: 5_000, maxPendingPerSubject: 500 });
  endpoint = await addEndpoint(
    service,
    { clientId: client.clientId, url: receiver.url, events: [] },
    { kind: "admin", via: "cli" },
  );
  const person = await addPerson(service, "Ada");
  ada = { ...person, ...(await signIn(service, person)) };
});
afterAll(async () => {
  await proxy?.stop();
  await stopService?.();
  await Promise.all(servers?.map((server) => server.kill("SIGTERM")) ?? []);
  await receiver?.stop();
});

/** `drained`: answers of `pending` that came before the time that was asked for. */
type Waited = { status: string; drained: number; afterMs: number };

/** The requests of an MCP server and a person, through the proxy, none of them sent twice: whatever fails is to be seen. */
function throughProxy() {
  const decidedAt = new Map<string, number>();
  const failed: string[] = [];
  const send = async (name: string, path: string, init: RequestInit): Promise<Response> => {
    const response = await fetch(`${proxy.url}${path}`, {
      ...init,
      redirect: "manual",
      signal: AbortSignal.timeout(30_000),
    });
    if (response.status >= 400) failed.push(`${name} was answered ${response.status}`);
    return response;
  };
  const headers = { authorization: `Bearer ${client.apiKey}`, "content-type": "application/json" };
  const api = createApiClient({ url: proxy.url, apiKey: client.apiKey });
  return {
    failed,
    mint: async () => {
      const body = JSON.stringify(mintBody(ada));
      const response = await send("a mint", "/api/v1/approvals", { method: "POST", headers, body });
      return ((await response.json()) as { id: string }).id;
    },
    wait: async (id: string): Promise<Waited> => {
      for (let drained = 0; ; ) {
        const askedAt = performance.now();
        const { status } = await api.wait(id, { seconds: waitSeconds });
        if (status !== "pending") return { status, drained, afterMs: Date.now() - (decidedAt.get(id) ?? 0) };
        if (performance.now() - askedAt < waitSeconds * 1000 - 1_000) drained += 1;
      }
    },
    decide: async (id: string, decision: "accept" | "decline") => {
      const { csrf, stamp, locale, renderedAt } = await formFor(service, ada.session, id, decision);
      const body = new URLSearchParams({ csrf, stamp, locale, renderedAt: String(renderedAt), read: "yes", decision });
      const ownHeaders = { cookie: ada.cookie, "sec-fetch-site": "same-origin" };
      decidedAt.set(id, Date.now());
      const response = await send("a decision", `/a/${id}/decision`, { method: "POST", headers: ownHeaders, body });
      if (response.headers.get("location") !== `/a/${id}`)
        failed.push(`${decision} led to ${response.headers.get("location")}`);
    },
    consume: async (id: string) => {
      const { caller, action } = mintBody(ada);
      const body = JSON.stringify({ caller, action, consumerToken: randomBytes(32).toString("base64url") });
      await send("a consume", `/api/v1/approvals/${id}/consume`, { method: "POST", headers, body });
    },
  };
}

/** One after the other: the old process ends before the new one, in its place, is sent anything. */
async function restartAll(): Promise<(number | null)[]> {
  const codes: (number | null)[] = [];
  for (const [i, server] of servers.entries()) {
    codes.push(await server.kill("SIGTERM"));
    servers[i] = await startReplica(server.config.port);
    await proxy.untilHealthy(2);
  }
  return codes;
}

describe("a rolling restart of two replicas behind a proxy that asks /readyz", () => {
  it("loses no wake-up, no request and no delivery, and each process ends with 0", async () => {
    const calls = throughProxy();
    const parked = await Promise.all(Array.from({ length: parkedCount }, calls.mint));
    const waits = parked.map(calls.wait);
    let isOver = false;
    const restarting = restartAll().finally(() => {
      isOver = true;
    });
    // New work comes all the while; what was parked before is decided one by one as it does.
    const later: Promise<Waited>[] = [];
    const accepted: string[] = [];
    for (let round = 0; !isOver || parked.length > 0; round += 1) {
      const isTurn = isOver || (round % 3 === 0 && parked.length > heldBackCount);
      const id = await calls.mint();
      later.push(calls.wait(id));
      await calls.decide(id, "accept");
      await calls.consume(id);
      accepted.push(id);
      const next = isTurn ? parked.shift() : undefined;
      if (next) await calls.decide(next, "accept");
    }
    const waited = Promise.all([...waits, ...later]);
    // Where a decision got lost its wait goes on and on; what was lost is to be said first.
    waited.catch(() => {});
    expect(await restarting).toEqual([0, 0]);
    expect(calls.failed).toEqual([]);
    expect([...proxy.answers.keys()].filter((key) => / (proxy_|cut|5)/.test(key))).toEqual([]);
    // `/readyz` said so in time: nothing was even tried at a process that took nothing more.
    expect(proxy.refusals()).toBe(0);
    const ended = await waited;
    expect(ended.filter(({ status }) => status !== "accepted")).toEqual([]);
    // A process that drains answers `pending`; the one beside it has the decision.
    expect(ended.filter(({ drained }) => drained > 0).length).toBeGreaterThanOrEqual(heldBackCount);
    expect(Math.max(...ended.map(({ afterMs }) => afterMs))).toBeLessThan(5_000);
    // What has piled up behind a slow receiver comes in now, or never.
    receiver.answer = answerWith(204);
    await expectAllDelivered();
    process.stdout.write(`${ended.length} waits, ${accepted.length} of them consumed, during the restart\n`);
  });
});

/** Every event of the history arrives, in seconds: nothing is left with a process that has ended until its lease runs out. */
async function expectAllDelivered(): Promise<void> {
  const left = async () => {
    const { rows } = await service.pool.query<{ count: number }>(
      `SELECT (SELECT count(*) FROM "outbox" WHERE "dispatched_at" IS NULL)::int
         + (SELECT count(*) FROM "webhook_delivery" WHERE "status" <> 'delivered')::int AS "count"`,
    );
    return rows[0]?.count;
  };
  await expect.poll(left, { timeout: 20_000, interval: 100 }).toBe(0);
  const { rows } = await service.pool.query<{ key: string }>(
    `SELECT concat("type", ' ', "approval_id") AS "key" FROM "audit_event"
     WHERE "client_id" = $1 AND "type" LIKE 'approval.%' AND "type" <> 'approval.minted'`,
    [client.clientId],
  );
  const came = receiver.received
    .map((received) => receiver.verify(received, endpoint.secret))
    .map(({ type, data }) => `${type} ${data["approvalId"]}`);
  expect([...new Set(came)].sort()).toEqual(rows.map(({ key }) => key).sort());
}
