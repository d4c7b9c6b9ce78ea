import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, BlockList } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createMachineApp } from "@/app/api/machine";
import type { Service } from "@/lib/process";
import { trustForwarded } from "@/lib/requests/forwarded";
import { addTestClient, apiFor, type TestClient } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";

let one: TestService;
let two: TestService;
let service: Service;
let client: TestClient;

beforeAll(async () => {
  one = await createTestService();
  two = await createTestService({
    databaseUrl: one.databaseUrl,
    ...(one.service.config.secret ? { secret: one.service.config.secret } : {}),
  });
  ({ service } = one);
  client = await addTestClient(service);
});
afterAll(async () => {
  await two.stop();
  await one.stop();
});

const unknownKey = `csk_000000000000_${"A".repeat(43)}`;

type Answer = { status: number; code: string | undefined; retryAfter: number };

/** A call with this `Authorization`, from this address as `trustForwarded` would have left it. */
async function call(authorization: string | undefined, address: string, at = service): Promise<Answer> {
  const api = apiFor(at, undefined);
  const headers = { "x-forwarded-for": address, ...(authorization === undefined ? {} : { authorization }) };
  const response = await api("GET", "/approvals", undefined, headers);
  const { code } = (await response.json()) as { code?: string };
  return { status: response.status, code, retryAfter: Number(response.headers.get("retry-after")) };
}

const allEvents = () => service.prisma.auditEvent.findMany({ where: { type: "security.throttled" } });
const eventsOf = (address: string) =>
  service.prisma.auditEvent.findMany({
    where: { type: "security.throttled", data: { path: ["address"], equals: address } },
  });

const statusesOf = (answers: Answer[], status: number) => answers.filter((answer) => answer.status === status).length;

describe("wrong API keys", () => {
  it("are told so 20 times a minute from one address, unknown, wrong or revoked, then to wait; a right one never is", async () => {
    const address = "192.0.2.10";
    const revoked = await addTestClient(service);
    await service.prisma.apiKey.update({ where: { keyId: revoked.keyId }, data: { revokedAt: new Date() } });
    const wrong = [`Bearer ${unknownKey}`, `Bearer ${client.apiKey.slice(0, -3)}AAA`, `Bearer ${revoked.apiKey}`];
    const answers: Answer[] = [];
    for (let i = 0; i < 25; i += 1) answers.push(await call(wrong[i % wrong.length], address));
    expect(answers.slice(0, 20).every(({ status, code }) => status === 401 && code === "unauthorized")).toBe(true);
    for (const { status, code, retryAfter } of answers.slice(20)) {
      expect([status, code]).toEqual([429, "throttled"]);
      expect(retryAfter).toBeGreaterThanOrEqual(1);
      expect(retryAfter).toBeLessThanOrEqual(60);
    }
    expect(await call(`Bearer ${client.apiKey}`, address)).toMatchObject({ status: 200 });
    expect(await call(`Bearer ${unknownKey}`, "192.0.2.11")).toMatchObject({ status: 401 });
    await service.pool.query(`UPDATE "throttle" SET "last_at" = "last_at" - INTERVAL '61 seconds'`);
    expect(await call(`Bearer ${unknownKey}`, address)).toMatchObject({ status: 401 });
  });

  it("that come at once, over two replicas and from all of an IPv6 network, are counted together", async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        call(`Bearer ${unknownKey}`, `2001:db8:5:5::${i}`, i % 2 === 0 ? service : two.service),
      ),
    );
    expect([statusesOf(answers, 401), statusesOf(answers, 429)]).toEqual([20, 80]);
  });

  it("are recorded once an hour, with the address", async () => {
    await vi.waitFor(async () => expect(await eventsOf("192.0.2.10")).toHaveLength(1));
    const [event] = await eventsOf("192.0.2.10");
    expect(event).toMatchObject({ actor: { kind: "service" }, data: { what: "api_key", address: "192.0.2.10" } });
  });

  it("from a whole IPv6 site are 60 a minute, from whichever of its networks", async () => {
    const answers: Answer[] = [];
    for (let i = 0; i < 70; i += 1) answers.push(await call(`Bearer ${unknownKey}`, `2001:db8:6:${i.toString(16)}::1`));
    expect([statusesOf(answers.slice(0, 60), 401), statusesOf(answers.slice(60), 429)]).toEqual([60, 10]);
    expect(await call(`Bearer ${unknownKey}`, "2001:db8:7:1::1")).toMatchObject({ status: 401 });
  });

  it("that a flood brings after that cost two reads, and change nothing any more", async () => {
    const address = "192.0.2.12";
    for (let i = 0; i < 22; i += 1) await call(`Bearer ${unknownKey}`, address);
    await vi.waitFor(async () => expect(await eventsOf(address)).toHaveLength(1));
    const before = await service.prisma.throttle.findMany({ orderBy: { key: "asc" } });
    const { pool } = service;
    const [queries, connections] = [vi.spyOn(pool, "query"), vi.spyOn(pool, "connect")];
    const statuses: number[] = [];
    for (let i = 0; i < 20; i += 1) statuses.push((await call(`Bearer ${unknownKey}`, address)).status);
    // One for the key, one for the count; a transaction would connect by itself.
    const seen = [queries.mock.calls.length, connections.mock.calls.length];
    for (const spy of [queries, connections]) spy.mockRestore();
    expect(statuses).toEqual(Array.from({ length: 20 }, () => 429));
    expect(seen).toEqual([40, 40]);
    expect(await service.prisma.throttle.findMany({ orderBy: { key: "asc" } })).toEqual(before);
  });

  it("are recorded 20 times an hour at most, from however many networks, and logged beyond that", async () => {
    const before = (await allEvents()).length;
    const warn = vi.spyOn(service.log, "warn");
    for (let n = 0; n < 25; n += 1) for (let i = 0; i < 21; i += 1) await call(`Bearer ${unknownKey}`, `198.18.0.${n}`);
    await vi.waitFor(() => expect(warn).toHaveBeenCalledTimes(25));
    warn.mockRestore();
    expect(before).toBeLessThan(20);
    expect(await allEvents()).toHaveLength(20);
  });
});

describe("what is no guess is not counted", () => {
  it("a right key, one without the scope, no key, and what looks like none (I7: a link to the API changes no count)", async () => {
    const reader = await addTestClient(service, {}, { scopes: ["approvals:consume"] });
    const before = await service.prisma.throttle.count();
    for (let i = 0; i < 25; i += 1) {
      expect((await call(`Bearer ${client.apiKey}`, "192.0.2.20")).status).toBe(200);
      expect((await call(`Bearer ${reader.apiKey}`, "192.0.2.21")).status).toBe(403);
      for (const none of [
        undefined,
        "Basic dXNlcjpwYXNz",
        "Bearer nonsense",
        "Bearer csk_short",
        `Basic ${unknownKey}`,
      ])
        expect((await call(none, "192.0.2.22")).status).toBe(401);
    }
    expect(await service.prisma.throttle.count()).toBe(before);
  });
});

describe("the address that is counted", () => {
  /** The process as `server.ts` sets it up, on loopback. */
  async function withServer<T>(trusted: BlockList, work: (port: number) => Promise<T>): Promise<T> {
    const answer = getRequestListener(createMachineApp(service).fetch, { overrideGlobalObjects: false });
    const server = createServer((request, response) => {
      trustForwarded(request, trusted);
      void answer(request, response);
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    try {
      return await work((server.address() as AddressInfo).port);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  }

  const statusFrom = async (port: number, forwardedFor: string) => {
    const headers = { authorization: `Bearer ${unknownKey}`, "x-forwarded-for": forwardedFor };
    return (await fetch(`http://127.0.0.1:${port}/api/v1/approvals`, { headers })).status;
  };

  it("is that of the socket, whatever a stranger writes into X-Forwarded-For", async () => {
    const statuses = await withServer(new BlockList(), async (port) => {
      const seen: number[] = [];
      for (let i = 0; i < 22; i += 1) seen.push(await statusFrom(port, `203.0.113.${i}`));
      return seen;
    });
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 401), 429, 429]);
  });

  it("is that which a trusted proxy names", async () => {
    const trusted = new BlockList();
    trusted.addAddress("127.0.0.1");
    const statuses = await withServer(trusted, async (port) => {
      const seen: number[] = [];
      for (let i = 0; i < 22; i += 1) seen.push(await statusFrom(port, `198.51.100.${i}`));
      // What the proxy was sent stands before what it saw itself.
      for (let i = 0; i < 21; i += 1) seen.push(await statusFrom(port, `203.0.113.${i}, 198.51.100.99`));
      return seen;
    });
    expect(statuses).toEqual([...Array.from({ length: 42 }, () => 401), 429]);
  });
});
