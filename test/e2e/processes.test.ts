import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Service } from "@/lib/process";
import { startService } from "@/lib/service/start";
import type { ServerProcess } from "@/scripts/server-process";
import {
  addPerson,
  addTestClient,
  mintApproval,
  mintBody,
  type Person,
  signIn,
  type TestClient,
} from "@/test/support/actors";
import { createDatabase } from "@/test/support/database";
import { formFor } from "@/test/support/deciding";
import { startServer } from "@/test/support/server";

let servers: [ServerProcess, ServerProcess];
let service: Service;
let stopService: () => Promise<void>;
let client: TestClient;
let ada: Person;

// Two processes over one database, as behind a load balancer.
beforeAll(async () => {
  const shared = { databaseUrl: await createDatabase(), secret: randomBytes(32).toString("hex") };
  servers = [await startServer(shared), await startServer(shared)];
  ({ service, stop: stopService } = await startService(servers[0].config, {
    log: pino({ level: "silent" }),
  }));
  client = await addTestClient(service, { maxMintsPerSubjectPerHour: 500, maxPendingPerSubject: 50 });
  ada = await addPerson(service, "Ada");
});
afterAll(async () => {
  await stopService?.();
  await Promise.all(servers?.map((server) => server.kill("SIGTERM")) ?? []);
});

const bearer = () => ({ authorization: `Bearer ${client.apiKey}` });
const one = (i: number) => servers[i % 2] ?? servers[0];

async function postDecision(
  server: ServerProcess,
  id: string,
  choice: "accept" | "decline",
  cookie: string,
  form: Record<string, string>,
) {
  return fetch(`${server.url}/a/${id}/decision`, {
    method: "POST",
    redirect: "manual",
    headers: { cookie, "sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ ...form, decision: choice }),
  });
}

async function fields(id: string, session: Awaited<ReturnType<typeof signIn>>["session"]) {
  const form = await formFor(service, session, id, "accept");
  return { csrf: form.csrf, stamp: form.stamp, locale: form.locale, renderedAt: String(form.renderedAt), read: "yes" };
}

describe("two processes on one database", () => {
  it("both halves of a process see one service: Next's pages show what only the service of server.ts holds", async () => {
    // Next's bundle makes no service of its own: it has the name, the database and the session of the one that server.ts has set.
    const { cookie } = await signIn(service, ada);
    const html = await (await fetch(`${servers[0].url}/inbox`, { headers: { cookie } })).text();
    expect([html.includes("Example Corp"), html.includes(ada.email)]).toEqual([true, true]);
    expect(readFileSync("server.ts", "utf8").match(/setService\(service\)/g)).toHaveLength(1);
  });

  it("a decision on one process's page wakes the wait in the other, and its own", async () => {
    const { session, cookie } = await signIn(service, ada);
    for (const [waiting, deciding] of [
      [0, 0],
      [0, 1],
      [1, 0],
    ] as const) {
      const { id } = await mintApproval(client, ada);
      const answer = fetch(`${one(waiting).url}/api/v1/approvals/${id}?wait=20`, { headers: bearer() });
      await postDecision(one(deciding), id, "accept", cookie, await fields(id, session));
      expect((await (await answer).json()) as object).toMatchObject({ status: "accepted", next: "run" });
    }
  });

  it("I4: of 50 concurrent decisions, half of them declines, exactly one is made", async () => {
    const { session, cookie } = await signIn(service, ada);
    const { id } = await mintApproval(client, ada);
    const form = await fields(id, session);
    await Promise.all(
      Array.from({ length: 50 }, (_, i) => postDecision(one(i), id, i % 4 < 2 ? "accept" : "decline", cookie, form)),
    );
    const { rows } = await service.pool.query(
      `SELECT count(*)::int AS n FROM "audit_event" WHERE "approval_id" = $1 AND "decision" IS NOT NULL`,
      [id],
    );
    expect(rows[0]?.n).toBe(1);
  });

  it("I5: of 50 concurrent consumes exactly one is granted", async () => {
    const other = await addTestClient(service);
    const { session, cookie } = await signIn(service, ada);
    const { id } = await mintApproval(other, ada);
    await postDecision(one(0), id, "accept", cookie, await fields(id, session));
    const { caller, action } = mintBody(ada);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        fetch(`${one(i).url}/api/v1/approvals/${id}/consume`, {
          method: "POST",
          headers: { authorization: `Bearer ${other.apiKey}`, "content-type": "application/json" },
          body: JSON.stringify({ caller, action, consumerToken: randomBytes(32).toString("base64url") }),
        }),
      ),
    );
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
  });

  it("SIGTERM answers parked waits with what is known, refuses nothing under way, and ends with 0", async () => {
    const third = await startServer({
      databaseUrl: servers[0].config.databaseUrl ?? "",
      secret: Buffer.from(servers[0].config.secret ?? []).toString("hex"),
    });
    const { id } = await mintApproval(client, ada, { action: { tool: "drain", arguments: {} } });
    const answer = fetch(`${third.url}/api/v1/approvals/${id}?wait=50`, { headers: bearer() });
    await new Promise((resolve) => setImmediate(resolve));
    await fetch(`${third.url}/api/v1/approvals/${id}`, { headers: bearer() });
    const startedAt = performance.now();
    const exit = third.kill("SIGTERM");
    expect((await (await answer).json()) as object).toMatchObject({ status: "pending", next: "wait" });
    expect(await exit).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(15_000);
  });

  it("forged forwarding headers change neither links nor cookies", async () => {
    const response = await fetch(`${servers[0].url}/inbox`, {
      redirect: "manual",
      headers: { "x-forwarded-host": "evil.example", "x-forwarded-proto": "https", forwarded: "host=evil.example" },
    });
    expect([response.status, response.headers.get("location")]).toEqual([303, "/signin?callbackUrl=%2Finbox"]);
    const signIn = await fetch(`${servers[0].url}/api/auth/signin?callbackUrl=/inbox`, {
      redirect: "manual",
      headers: { "x-forwarded-host": "evil.example", host: "evil.example" },
    });
    expect(`${signIn.headers.get("location")}${signIn.headers.get("set-cookie")}`).not.toContain("evil");
  });

  it("refuses to start with a secret that the database does not belong to", async () => {
    const wrong = startServer({ databaseUrl: servers[0].config.databaseUrl ?? "" });
    await expect(wrong).rejects.toThrow(/ended with 1/);
  });
});
