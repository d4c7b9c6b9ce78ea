import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { serve } from "@hono/node-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMachineApp } from "@/app/api/machine";
import { revokeKey } from "@/lib/api-keys/revoke";
import { waitForDecision } from "@/lib/approvals/wait";
import { createLogger } from "@/lib/log";
import { createWaitHub } from "@/lib/waits/hub";
import { hubSources } from "@/lib/waits/hub-sources";
import { listen, notifyChannel } from "@/lib/waits/listen";
import { addPerson, addTestClient, apiFor, mintApproval, type Person, signIn } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";
import { startSilentProxy } from "@/test/support/silent-proxy";

const actor = { kind: "admin", via: "cli" } as const;
let t: TestService;
let ada: Person;

beforeAll(async () => {
  t = await createTestService();
  ada = await addPerson(t.service);
});
afterAll(() => t.stop());

const manyMints = { maxMintsPerSubjectPerHour: 10_000, maxPendingPerSubject: 1_000 };
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

describe("a wait whose key is no key any more", () => {
  it.each([
    ["revoked", (keyId: string, _clientId: string) => revokeKey(t.service, keyId, actor)],
    [
      "of a client that is disabled",
      (_keyId: string, clientId: string) =>
        t.service.pool.query(`UPDATE "client" SET "disabled_at" = clock_timestamp() WHERE "id" = $1`, [clientId]),
    ],
  ])(
    "ends within ten seconds as 401, with nothing told, where it is %s; others' waits go on",
    async (_what, refuse) => {
      const [client, other] = [await addTestClient(t.service, manyMints), await addTestClient(t.service, manyMints)];
      const [theirs, others] = [await mintApproval(client, ada), await mintApproval(other, ada)];
      const startedAt = performance.now();
      const ended = client.api("GET", `/approvals/${theirs.id}?wait=55`);
      const going = other.api("GET", `/approvals/${others.id}?wait=55`);
      await until(() => t.service.hub.parkedCount() === 2);
      await refuse(client.keyId, client.clientId);
      const response = await ended;
      expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([401, "unauthorized"]);
      expect(performance.now() - startedAt).toBeLessThan(10_000);
      expect(t.service.hub.parkedCount()).toBe(1);
      await decideAs(t.service, (await signIn(t.service, ada)).session, others.id, "accept");
      expect(await (await going).json()).toMatchObject({ status: "accepted" });
    },
  );
});

describe("a database that was away", () => {
  it("is asked for the key too, once it is back: whoever was revoked meanwhile is told nothing", async () => {
    const client = await addTestClient(t.service, manyMints);
    const { id } = await mintApproval(client, ada);
    await decideAs(t.service, (await signIn(t.service, ada)).session, id, "accept");
    const key = await t.service.clients.byKeyId(client.keyId);
    if (!key) throw new Error("there is no key");
    const reads: string[] = [];
    const service = {
      ...t.service,
      // Nobody sweeps it.
      hub: createWaitHub(hubSources(t.service.pool, t.service.outbox, createLogger({ logLevel: "silent" }))),
      readParked: async (of: string) => {
        reads.push(of);
        if (reads.length > 1) return t.service.readParked(of);
        await revokeKey(t.service, client.keyId, actor);
        throw Object.assign(new Error("gone"), { code: "ECONNREFUSED" });
      },
    };
    await expect(waitForDecision(service, key, id, 30)).rejects.toMatchObject({ code: "unauthorized" });
    expect([reads.length, service.hub.parkedCount()]).toEqual([1, 0]);
  });
});

describe("many waits of one approval", () => {
  it("are woken by one read of its row, and each is told", async () => {
    const client = await addTestClient(t.service, manyMints);
    const { id } = await mintApproval(client, ada);
    const waits = Array.from({ length: 400 }, () => client.api("GET", `/approvals/${id}?wait=30`));
    await until(() => t.service.hub.parkedCount() === 400);
    let reads = 0;
    const { pool } = t.service;
    const query = pool.query.bind(pool) as (...of: unknown[]) => unknown;
    const counted = (...of: unknown[]) => {
      if ((of[0] as { name?: string }).name === "approval-read") reads += 1;
      return query(...of);
    };
    const { session } = await signIn(t.service, ada);
    Object.assign(pool, { query: counted });
    try {
      await decideAs(t.service, session, id, "accept");
      const readsToDecide = 3;
      const answers = await Promise.all(waits.map(async (wait) => (await (await wait).json()) as { status: string }));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(["accepted"]));
      expect(reads).toBeLessThanOrEqual(readsToDecide + 2);
    } finally {
      Object.assign(pool, { query });
    }
  });
});

const portOf = (url: string) => Number(new URL(url).port);
function withPort(url: string, port: number): string {
  const changed = new URL(url);
  changed.port = String(port);
  return changed.href;
}

describe("the connection that wakes waits", () => {
  it("is made anew where the other side has vanished without a word, and wakes again", async () => {
    const proxy = await startSilentProxy(portOf(t.databaseUrl));
    const log = createLogger({ logLevel: "silent" });
    const hub = createWaitHub(hubSources(t.service.pool, t.service.outbox, log));
    const woken: string[] = [];
    const listening = listen({
      connectionString: withPort(t.databaseUrl, proxy.port),
      hub: { ...hub, notify: (id) => woken.push(id) },
      keys: { refresh: async () => {} },
      log,
    });
    const notify = (id: string) => t.service.pool.query("SELECT pg_notify($1, $2)", [notifyChannel, id]);
    await until(() => listening.isUp());
    await notify("first");
    await until(() => woken.includes("first"));
    proxy.fallSilent();
    await notify("lost");
    const silentAt = performance.now();
    await until(() => proxy.connections === 2 && listening.isUp());
    expect(performance.now() - silentAt).toBeLessThan(15_000);
    await notify("again");
    await until(() => woken.includes("again"));
    expect(woken).not.toContain("lost");
    await listening.stop();
    proxy.stop();
  }, 60_000);
});

describe("a database that has vanished without a word", () => {
  it("I14: ends no wait later than its end, says `unavailable` then, and is found again: a decision made meanwhile is told", async () => {
    const proxy = await startSilentProxy(portOf(t.databaseUrl));
    const cut = await createTestService({ ...t.service.config, databaseUrl: withPort(t.databaseUrl, proxy.port) });
    const client = await addTestClient(t.service, manyMints);
    const api = apiFor(cut.service, client.apiKey);
    const { id } = await mintApproval(client, ada);
    const long = api("GET", `/approvals/${id}?wait=55`);
    const short = api("GET", `/approvals/${(await mintApproval(client, ada)).id}?wait=2`);
    await until(
      () => cut.service.hub.parkedCount() === 2 && cut.service.pool.idleCount === cut.service.pool.totalCount,
    );
    proxy.fallSilent();
    const silentAt = performance.now();
    await decideAs(t.service, (await signIn(t.service, ada)).session, id, "accept");
    const ended = await short;
    expect([ended.status, ((await ended.json()) as { code: string }).code]).toEqual([503, "unavailable"]);
    expect(ended.headers.get("retry-after")).toBe("2");
    expect(performance.now() - silentAt).toBeLessThan(8_000);
    expect(await (await long).json()).toMatchObject({ status: "accepted", next: "run" });
    expect(performance.now() - silentAt).toBeLessThan(50_000);
    await cut.stop();
    proxy.stop();
  }, 90_000);
});

describe("a caller that has vanished without a word", () => {
  it("holds nothing longer than it asked to wait", async () => {
    const client = await addTestClient(t.service, manyMints);
    const { id } = await mintApproval(client, ada);
    const listening = serve({ fetch: createMachineApp(t.service).fetch, port: 0, hostname: "127.0.0.1" });
    await once(listening, "listening");
    const proxy = await startSilentProxy((listening.address() as AddressInfo).port);
    const caller = connect(proxy.port, "127.0.0.1");
    caller.on("error", () => {});
    const startedAt = performance.now();
    caller.write(
      `GET /api/v1/approvals/${id}?wait=3 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${client.apiKey}\r\n\r\n`,
    );
    await until(() => t.service.hub.parkedCount() === 1);
    proxy.fallSilent();
    caller.destroy();
    await until(() => t.service.hub.parkedCount() === 0);
    expect(performance.now() - startedAt).toBeGreaterThan(2_900);
    expect(performance.now() - startedAt).toBeLessThan(6_500);
    proxy.stop();
    listening.close();
  });
});
