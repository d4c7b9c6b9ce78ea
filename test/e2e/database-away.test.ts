import pg from "pg";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import type { Service } from "@/lib/process";
import { startService } from "@/lib/service/start";
import type { ServerProcess } from "@/scripts/server-process";
import { addPerson, addTestClient, mintApproval, signIn } from "@/test/support/actors";
import { createDatabase } from "@/test/support/database";
import { startServer } from "@/test/support/server";

let server: ServerProcess;
let service: Service;
let stopService: () => Promise<void>;
let databaseUrl: string;

beforeAll(async () => {
  databaseUrl = await createDatabase();
  server = await startServer({ databaseUrl });
  ({ service, stop: stopService } = await startService(server.config, { log: pino({ level: "silent" }) }));
});
afterAll(async () => {
  await stopService?.();
  await server?.kill("SIGTERM");
});

describe("a page while the database is away", () => {
  it("is 503 and never 500, and is there again as soon as the database is", async () => {
    const ada = await addPerson(service);
    const { cookie } = await signIn(service, ada);
    const { id } = await mintApproval(await addTestClient(service), ada);
    const statusOf = async (path: string) =>
      (await fetch(`${server.url}${path}`, { headers: { cookie }, redirect: "manual" })).status;
    const paths = [`/a/${id}`, "/inbox", "/account", "/a/apr_00000000000000000000000000"];
    const before = await Promise.all(paths.map(statusOf));
    expect(before).toEqual([200, 200, 200, 404]);
    const admin = new pg.Client({ connectionString: inject("clusterUrl") });
    await admin.connect();
    const name = new URL(databaseUrl).pathname.slice(1);
    await admin.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS false`);
    await admin.query(`SELECT pg_terminate_backend("pid") FROM pg_stat_activity WHERE "datname" = $1`, [name]);
    for (let round = 0; round < 3; round += 1)
      expect(await Promise.all(paths.map(statusOf))).toEqual([503, 503, 503, 503]);
    await admin.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS true`);
    await admin.end();
    expect(await Promise.all(paths.map(statusOf))).toEqual(before);
  });
});
