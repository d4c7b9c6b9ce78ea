import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { serve } from "@hono/node-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMachineApp } from "@/app/api/machine";
import { waitsMaxPerClient } from "@/lib/waits/hub";
import {
  addPerson,
  addTestClient,
  apiFor,
  mintApproval,
  type Person,
  signIn,
  type TestClient,
} from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { expireIn } from "@/test/support/deadline";
import { decideAs } from "@/test/support/deciding";
import { restartableCluster } from "@/test/support/restartable-cluster";

let t: TestService;
let client: TestClient;
let ada: Person;

beforeAll(async () => {
  t = await createTestService();
  client = await addTestClient(t.service, { maxMintsPerSubjectPerHour: 10_000, maxPendingPerSubject: 1_000 });
  ada = await addPerson(t.service);
});
afterAll(() => t.stop());

type Status = { status: string; next: string; code?: string };
const wait = async (id: string, seconds: number, api = client.api) =>
  (await (await api("GET", `/approvals/${id}?wait=${seconds}`)).json()) as Status;

/** Until so many waits are parked; 20 s at most. */
async function parked(service: TestService, count: number): Promise<void> {
  const endsAt = Date.now() + 20_000;
  while (service.service.hub.parkedCount() !== count && Date.now() < endsAt)
    await new Promise((resolve) => setImmediate(resolve));
  expect(service.service.hub.parkedCount()).toBe(count);
}

describe("waiting for a decision", () => {
  it("answers when the decision falls, not when the wait ends", async () => {
    const { session } = await signIn(t.service, ada);
    const { id } = await mintApproval(client, ada);
    const startedAt = performance.now();
    const answer = wait(id, 30);
    await parked(t, 1);
    await decideAs(t.service, session, id, "accept");
    expect(await answer).toMatchObject({ status: "accepted", next: "run" });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  it("a decision in another process wakes it too", async () => {
    const second = await createTestService({ ...t.service.config, databaseUrl: t.databaseUrl });
    const { session } = await signIn(second.service, ada);
    const { id } = await mintApproval(client, ada);
    const answer = wait(id, 4);
    await parked(t, 1);
    await decideAs(second.service, session, id, "cancel");
    expect(await answer).toMatchObject({ status: "cancelled", next: "stop" });
    await second.stop();
  });

  it("a decision between reading and parking wakes it: nothing is missed", async () => {
    const { session } = await signIn(t.service, ada);
    const { id } = await mintApproval(client, ada);
    // The hub's ticket exists before the row is read; the decision is made and announced before the wait parks.
    const ticket = t.service.hub.subscribe(id, client.clientId, client.keyId);
    await decideAs(t.service, session, id, "accept");
    const startedAt = performance.now();
    await ticket.next(10_000);
    ticket.close();
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  it("a lost notification is a delay, never a loss: the sweep finds it", async () => {
    const { session } = await signIn(t.service, ada);
    const { id } = await mintApproval(client, ada);
    const deaf = await createTestService({ ...t.service.config, databaseUrl: t.databaseUrl });
    const answer = wait(id, 20, apiFor(deaf.service, client.apiKey));
    await parked(deaf, 1);
    const { rows } = await t.service.pool.query<{ pid: number }>(
      `SELECT pg_terminate_backend("pid"), "pid" FROM pg_stat_activity WHERE "application_name" = 'countersign-listen' AND "datname" = current_database()`,
    );
    expect(rows.length).toBeGreaterThan(0);
    await decideAs(t.service, session, id, "cancel");
    expect(await answer).toMatchObject({ status: "cancelled", next: "stop" });
    await deaf.stop();
  });

  it("I6: it ends by itself when the approval expires", async () => {
    const { id } = await mintApproval(client, ada);
    await expireIn(t.service, id, 1);
    expect(await wait(id, 20)).toMatchObject({ status: "expired", next: "stop" });
  });

  it("answers pending when the wait ends, and at once when the process drains", async () => {
    const draining = await createTestService({ ...t.service.config, databaseUrl: t.databaseUrl });
    const { id } = await mintApproval(client, ada);
    expect(await wait(id, 1)).toMatchObject({ status: "pending", next: "wait" });
    const answer = wait(id, 30, apiFor(draining.service, client.apiKey));
    await parked(draining, 1);
    draining.service.hub.drain();
    expect(await answer).toMatchObject({ status: "pending", next: "wait" });
    expect(await wait(id, 30, apiFor(draining.service, client.apiKey))).toMatchObject({ status: "pending" });
    await draining.stop();
  });

  it(`refuses more than ${waitsMaxPerClient} parked waits of one client, and none of another's`, async () => {
    const { id } = await mintApproval(client, ada);
    const tickets = Array.from({ length: waitsMaxPerClient }, () =>
      t.service.hub.subscribe(id, client.clientId, client.keyId),
    );
    const refused = await client.api("GET", `/approvals/${id}?wait=5`);
    expect([refused.status, ((await refused.json()) as Status).code]).toEqual([429, "too_many_waits"]);
    const other = await addTestClient(t.service);
    expect((await wait((await mintApproval(other, ada)).id, 1, other.api)).status).toBe("pending");
    for (const ticket of tickets) ticket.close();
    expect(t.service.hub.parkedCount()).toBe(0);
  });

  it("S35: a caller that goes away leaves nothing parked", async () => {
    const { id } = await mintApproval(client, ada);
    const listening = serve({ fetch: createMachineApp(t.service).fetch, port: 0, hostname: "127.0.0.1" });
    await once(listening, "listening");
    const { port } = listening.address() as AddressInfo;
    const abort = new AbortController();
    const gone = fetch(`http://127.0.0.1:${port}/api/v1/approvals/${id}?wait=50`, {
      headers: { authorization: `Bearer ${client.apiKey}` },
      signal: abort.signal,
    }).catch(() => "gone");
    await parked(t, 1);
    abort.abort();
    expect(await gone).toBe("gone");
    await parked(t, 0);
    listening.close();
  });

  it.each([["56"], ["-1"], ["1.5"], ["abc"], ["5&wait=6"], ["5&extra=1"]])("refuses wait=%s", async (value) => {
    const { id } = await mintApproval(client, ada);
    const response = await client.api("GET", `/approvals/${id}?wait=${value}`);
    expect([response.status, ((await response.json()) as Status).code]).toEqual([400, "invalid_request"]);
  });
});

describe("the database goes away", () => {
  it("I14: PostgreSQL restarts under 1,200 parked waits: none is lost, all are answered with what was decided", async () => {
    const dataDir = await mkdtemp(path.join(tmpdir(), "countersign-restart-"));
    const cluster = await restartableCluster(dataDir);
    const own = await createTestService({ databaseUrl: cluster.url });
    const people = await Promise.all(Array.from({ length: 4 }, () => addPerson(own.service)));
    const policy = { maxMintsPerSubjectPerHour: 1_000, maxPendingPerSubject: 1_000 };
    const callers = await Promise.all(Array.from({ length: 4 }, () => addTestClient(own.service, policy)));
    const minted = await Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        const [person, caller] = [people[i % 4] as Person, callers[i % 4] as TestClient];
        return { person, caller, id: (await mintApproval(caller, person)).id };
      }),
    );
    // Six of each approval.
    const answers = minted.flatMap(({ id, caller }) => Array.from({ length: 6 }, () => wait(id, 50, caller.api)));
    await parked(own, 1_200);
    await cluster.restart();
    const sessions = new Map(
      await Promise.all(people.map(async (p) => [p, (await signIn(own.service, p)).session] as const)),
    );
    for (const [i, { person, id }] of minted.entries())
      await decideAs(own.service, sessions.get(person) as never, id, i % 2 ? "accept" : "cancel");
    const statuses = await Promise.all(answers);
    expect(statuses.map((s) => s.status)).toEqual(
      minted.flatMap((_, i) => Array.from({ length: 6 }, () => (i % 2 ? "accepted" : "cancelled"))),
    );
    await own.stop();
    await cluster.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
});
