import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey } from "@/lib/api-keys/create";
import { revokeKey } from "@/lib/api-keys/revoke";
import type { Service } from "@/lib/process";
import { waitsMaxPerClient } from "@/lib/waits/hub";
import { shareRead } from "@/lib/waits/share-read";
import { addPerson, addTestClient, apiFor, mintApproval, type Person, signIn } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";

const actor = { kind: "admin", via: "cli" } as const;
const policy = { maxMintsPerSubjectPerHour: 10_000, maxPendingPerSubject: 1_000 };
let t: TestService;
let ada: Person;

beforeAll(async () => {
  t = await createTestService();
  ada = await addPerson(t.service);
});
afterAll(() => t.stop());

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

/** The queries over the pool from now on, by name or text, until `stop`. */
function watchQueries({ pool }: Service): { seen: string[]; stop(): void } {
  const query = pool.query.bind(pool) as (...of: unknown[]) => unknown;
  const seen: string[] = [];
  const counting = (...of: unknown[]) => {
    const [first] = of as [string | { name?: string; text?: string }];
    seen.push(typeof first === "string" ? first : (first.name ?? first.text ?? ""));
    return query(...of);
  };
  Object.assign(pool, { query: counting });
  return { seen, stop: () => void Object.assign(pool, { query }) };
}

/** Holds the answer to the next query of this table back until `release`. */
function lateAnswer({ pool }: Service, table: string): { isHeld(): boolean; release(): void } {
  const query = pool.query.bind(pool) as (...of: unknown[]) => Promise<unknown>;
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isHeld = false;
  const holding = async (...of: unknown[]) => {
    const result = await query(...of);
    if (isHeld || !JSON.stringify(of[0]).includes(table)) return result;
    isHeld = true;
    Object.assign(pool, { query });
    await released;
    return result;
  };
  Object.assign(pool, { query: holding });
  return { isHeld: () => isHeld, release };
}

const readsIn = (seen: string[]) => seen.filter((name) => name === "approval-read").length;

/** Status and body's status or code of an answer. */
async function statusOf(answer: Promise<Response> | undefined): Promise<[number | undefined, string | undefined]> {
  const response = await answer;
  const body = (await response?.json()) as { status?: string; code?: string } | undefined;
  return [response?.status, body?.code ?? body?.status];
}

/** `count` more pending approvals of a client: copies of one whose records nobody verifies while they are pending. */
async function copies(service: Service, id: string, count: number): Promise<string[]> {
  const { rows } = await service.pool.query<{ id: string }>(
    `INSERT INTO "approval" SELECT (jsonb_populate_record(a, jsonb_build_object('id', 'apr_' || lpad(n::text, 8, '0') || right(a."id", 18), 'match_tag', NULL))).*
     FROM "approval" a, generate_series(1, $2) n WHERE a."id" = $1 RETURNING "id"`,
    [id, count],
  );
  return rows.map((row) => row.id);
}

describe(`5,000 parked waits of ten clients`, () => {
  it("are swept by one query that says what is news, without holding up the process; a change wakes its own wait alone", async () => {
    const own = await createTestService({ ...t.service.config, databaseUrl: t.databaseUrl });
    const { service } = own;
    const queries = watchQueries(service);
    const parked: { id: string; answer: Promise<Response> }[] = [];
    for (let i = 0; i < 10; i += 1) {
      const client = await addTestClient(t.service, policy);
      const { id } = await mintApproval(client, ada, { ttlSeconds: 3_600 });
      const api = apiFor(service, client.apiKey);
      for (const copy of await copies(t.service, id, waitsMaxPerClient))
        parked.push({ id: copy, answer: api("GET", `/approvals/${copy}?wait=55`) });
    }
    // A sweep asks about what was seen: all have made their first read.
    await until(() => readsIn(queries.seen) === 5_000 && service.pool.waitingCount === 0);
    await until(() => service.pool.idleCount === service.pool.totalCount);

    const spentMs: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const before = process.cpuUsage();
      queries.seen.length = 0;
      await service.hub.sweep();
      const { user, system } = process.cpuUsage(before);
      spentMs.push((user + system) / 1000);
      expect(queries.seen).toEqual(["waits-news"]);
    }
    // Processor time of the whole process: what holds the loop up is less.
    expect(Math.min(...spentMs)).toBeLessThan(50);

    const changed = parked[1_234];
    await t.service.pool.query(
      `UPDATE "approval" SET "version" = "version" + 1, "expires_at" = clock_timestamp() WHERE "id" = $1`,
      [changed?.id],
    );
    queries.seen.length = 0;
    await service.hub.sweep();
    expect(await statusOf(changed?.answer)).toEqual([200, "expired"]);
    expect([readsIn(queries.seen), service.hub.parkedCount()]).toEqual([1, 4_999]);
    service.hub.drain();
    const answers = await Promise.all(parked.map(({ answer }) => answer));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    queries.stop();
    await own.stop();
  }, 120_000);
});

describe("waits that are woken together", () => {
  it("500 of one approval share one read and are all told; whoever may not know of it shares nothing", async () => {
    const [client, other] = [await addTestClient(t.service, policy), await addTestClient(t.service, policy)];
    const { id } = await mintApproval(client, ada);
    const narrow = await createKey(t.service, { clientId: client.clientId, tools: ["another_tool"] }, actor);
    const mint = await createKey(t.service, { clientId: client.clientId, scopes: ["approvals:create"] }, actor);
    const ask = (apiKey: string) => apiFor(t.service, apiKey)("GET", `/approvals/${id}?wait=55`);
    const waits = Array.from({ length: waitsMaxPerClient - 1 }, () => ask(client.apiKey));
    // At the same moment, for the same row.
    expect(await statusOf(ask(other.apiKey))).toEqual([404, "not_found"]);
    expect(await statusOf(ask(narrow.apiKey))).toEqual([403, "tool_not_allowed"]);
    expect(await statusOf(ask(mint.apiKey))).toEqual([403, "missing_scope"]);
    await until(() => t.service.hub.parkedCount() === waitsMaxPerClient - 1);
    const { session } = await signIn(t.service, ada);
    const queries = watchQueries(t.service);
    await decideAs(t.service, session, id, "accept");
    const answers = await Promise.all(waits.map((wait) => statusOf(wait)));
    queries.stop();
    expect(new Set(answers.map(String))).toEqual(new Set(["200,accepted"]));
    // To show and to decide it, and one for all: by the decision itself, or by its notice once it comes back from the database.
    expect(readsIn(queries.seen)).toBeLessThanOrEqual(5);
    expect(t.service.hub.parkedCount()).toBe(0);
  });

  it("a read that began before somebody asked is not theirs", async () => {
    const began: (() => void)[] = [];
    const read = shareRead(async (id) => {
      let number = 0;
      await new Promise<void>((resolve) => {
        number = began.push(resolve);
      });
      return `${id} ${number}`;
    });
    const first = [read("a"), read("a"), read("b")];
    await until(() => began.length === 2);
    const second = [read("a"), read("a")];
    await until(() => began.length === 3);
    for (const finish of began) finish();
    expect(await Promise.all([...first, ...second])).toEqual(["a 1", "a 1", "b 2", "a 3", "a 3"]);
  });

  it("a read that fails fails for those who shared it, and for nobody after", async () => {
    let isDown = true;
    const read = shareRead(async () => {
      if (isDown) throw new Error("down");
      return "up";
    });
    expect(await Promise.allSettled([read("a"), read("a")])).toMatchObject([
      { status: "rejected" },
      { status: "rejected" },
    ]);
    isDown = false;
    expect(await read("a")).toBe("up");
  });
});

describe("keys that many ask with", () => {
  it("are read once for all who ask at once; what was read before a revocation is remembered no more", async () => {
    const client = await addTestClient(t.service, policy);
    const queries = watchQueries(t.service);
    const keys = await Promise.all(Array.from({ length: 500 }, () => t.service.clients.byKeyId(client.keyId)));
    queries.stop();
    expect(new Set(keys).size).toBe(1);
    expect(queries.seen.filter((text) => text.includes("api_key")).length).toBeLessThanOrEqual(1);

    const other = await addTestClient(t.service, policy);
    const late = lateAnswer(t.service, "api_key");
    const before = t.service.clients.byKeyId(other.keyId);
    await until(() => late.isHeld());
    await revokeKey(t.service, other.keyId, actor);
    late.release();
    expect((await before)?.isRevoked).toBe(false);
    expect((await t.service.clients.byKeyId(other.keyId))?.isRevoked).toBe(true);
  });
});
