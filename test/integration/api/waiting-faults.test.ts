import { connect, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { revokeKey } from "@/lib/api-keys/revoke";
import { createLogger } from "@/lib/log";
import { createWaitHub } from "@/lib/waits/hub";
import { hubSources } from "@/lib/waits/hub-sources";
import { listen, notifyChannel } from "@/lib/waits/listen";
import { addPerson, addTestClient, mintApproval, type Person, signIn } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";

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

/** Between us and PostgreSQL; `fallSilent` forwards nothing more and closes nothing, as a network that has swallowed the other side. */
async function startSilentProxy(
  target: URL,
): Promise<{ url: string; connections: number; fallSilent(): void; server: Server }> {
  const sockets = new Set<Socket>();
  let generation = 0;
  const proxy = {
    url: "",
    connections: 0,
    fallSilent: () => {
      generation += 1;
    },
    server: createServer((downstream) => {
      const born = generation;
      proxy.connections += 1;
      const upstream = connect(Number(target.port), target.hostname);
      for (const [from, to] of [
        [downstream, upstream],
        [upstream, downstream],
      ] as const) {
        sockets.add(from);
        from.on("data", (bytes) => born === generation && to.write(bytes));
        from.on("error", () => {});
        from.on("close", () => born === generation && to.destroy());
      }
    }),
  };
  await new Promise<void>((resolve) => proxy.server.listen(0, "127.0.0.1", resolve));
  const url = new URL(target);
  url.port = String((proxy.server.address() as { port: number }).port);
  return Object.assign(proxy, { url: url.href });
}

describe("the connection that wakes waits", () => {
  it("is made anew where the other side has vanished without a word, and wakes again", async () => {
    const proxy = await startSilentProxy(new URL(t.databaseUrl));
    const log = createLogger({ logLevel: "silent" });
    const hub = createWaitHub(hubSources(t.service.pool, t.service.outbox, log));
    const woken: string[] = [];
    const listening = listen({
      connectionString: proxy.url,
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
    proxy.server.close();
  }, 60_000);
});
