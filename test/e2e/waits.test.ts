import { randomBytes } from "node:crypto";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { revokeKey } from "@/lib/api-keys/revoke";
import type { Service } from "@/lib/process";
import { startService } from "@/lib/service/start";
import type { ServerProcess } from "@/scripts/server-process";
import { addPerson, addTestClient, mintApproval, type Person, signIn, type TestClient } from "@/test/support/actors";
import { createDatabase } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";
import { startServer } from "@/test/support/server";

const running = new Set<ServerProcess>();
let servers: [ServerProcess, ServerProcess];
let service: Service;
let stopService: () => Promise<void>;
let client: TestClient;
let ada: Person;

// Two processes over one database; what they have parked is read where Prometheus does.
beforeAll(async () => {
  const shared = { databaseUrl: await createDatabase(), secret: randomBytes(32).toString("hex") };
  const env = { METRICS_TOKEN: metricsToken };
  servers = await Promise.all([startServer({ ...shared, env }), startServer({ ...shared, env })]);
  for (const server of servers) running.add(server);
  ({ service, stop: stopService } = await startService(servers[0].config, { log: pino({ level: "silent" }) }));
  client = await addTestClient(service, { maxMintsPerSubjectPerHour: 500, maxPendingPerSubject: 500 });
  ada = await addPerson(service, "Ada");
});
afterAll(async () => {
  await stopService?.();
  await Promise.all([...running].map((server) => server.kill("SIGTERM")));
});

const metricsToken = randomBytes(32).toString("hex");

async function parkedAt(server: ServerProcess, count: number): Promise<void> {
  for (let found = -1; found !== count; ) {
    const text = await (
      await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } })
    ).text();
    found = Number(/^countersign_parked_waits (\d+)$/m.exec(text)?.[1] ?? -1);
  }
}

type Told = { status?: string; next?: string; code?: string };

async function ask(server: ServerProcess, id: string, apiKey = client.apiKey): Promise<[number, Told]> {
  const response = await fetch(`${server.url}/api/v1/approvals/${id}?wait=50`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  return [response.status, (await response.json()) as Told];
}

describe("two processes on one database, with waits parked in the first", () => {
  it("I14: killed with SIGKILL, it loses no decision: whoever asks the other one again is told, however it was decided meanwhile", async () => {
    const [first, second] = servers;
    const { session } = await signIn(service, ada);
    const ids: string[] = [];
    for (let i = 0; i < 60; i += 1) ids.push((await mintApproval(client, ada)).id);
    const cut = ids.map((id) => ask(first, id).catch(() => "cut" as const));
    await parkedAt(first, 60);
    // A third decided before it dies, a third while nobody waits, a third when all wait again.
    for (const id of ids.slice(0, 20)) await decideAs(service, session, id, "accept");
    const told = await Promise.all(cut.slice(0, 20));
    expect(new Set(told.map((answer) => answer === "cut" || answer[1].status))).toEqual(new Set(["accepted"]));
    running.delete(first);
    await first.kill("SIGKILL");
    expect(new Set(await Promise.all(cut.slice(20)))).toEqual(new Set(["cut"]));
    for (const id of ids.slice(20, 40)) await decideAs(service, session, id, "decline");
    const again = ids.map((id) => ask(second, id));
    await parkedAt(second, 20);
    for (const id of ids.slice(40)) await decideAs(service, session, id, "cancel");
    expect((await Promise.all(again)).map(([code, { status }]) => [code, status])).toEqual(
      ids.map((_, i) => [200, i < 20 ? "accepted" : i < 40 ? "declined" : "cancelled"]),
    );
  });

  it("a key that another process revokes ends its waits here within ten seconds", async () => {
    const [, second] = servers;
    const other = await addTestClient(service);
    const { id } = await mintApproval(other, ada);
    const answer = ask(second, id, other.apiKey);
    await parkedAt(second, 1);
    const revokedAt = performance.now();
    await revokeKey(service, other.keyId, { kind: "admin", via: "cli" });
    expect(await answer).toMatchObject([401, { code: "unauthorized" }]);
    expect(performance.now() - revokedAt).toBeLessThan(10_000);
  });
});
