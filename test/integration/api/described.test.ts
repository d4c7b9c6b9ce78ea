import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMachineApp } from "@/app/api/machine";
import { consumeAnswer, listAnswer, mintAnswer, problemAnswer, statusAnswer } from "@/app/api/v1/schemas";
import { rotateSigningKey } from "@/lib/keys/rotate";
import {
  addPerson,
  addTestClient,
  mintApproval,
  mintBody,
  type Person,
  signIn,
  type TestClient,
} from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";

let t: TestService;
let client: TestClient;
let ada: Person;

beforeAll(async () => {
  t = await createTestService();
  client = await addTestClient(t.service);
  ada = await addPerson(t.service);
});
afterAll(() => t.stop());

const get = async (path: string) => createMachineApp(t.service).fetch(new Request(`${t.service.config.url}${path}`));

describe("the description of the machine API", () => {
  it("is OpenAPI 3.1 and names every route", async () => {
    const document = (await (await get("/api/v1/openapi.json")).json()) as {
      openapi: string;
      paths: Record<string, object>;
    };
    expect(document.openapi).toBe("3.1.0");
    expect(
      Object.entries(document.paths)
        .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`))
        .toSorted(),
    ).toEqual([
      "get /approvals",
      "get /approvals/{id}",
      "post /approvals",
      "post /approvals/{id}/consume",
      "post /approvals/{id}/outcome",
      "post /approvals/{id}/withdraw",
    ]);
  });

  it("says all that the answers hold: none has a field that is not described", async () => {
    const { session } = await signIn(t.service, ada);
    const minted = await mintApproval(client, ada, { requirements: { matchCode: true } });
    mintAnswer.strict().parse(minted);
    const { id } = await mintApproval(client, ada);
    await decideAs(t.service, session, id, "accept", { note: "yes" });
    const consumerToken = randomBytes(32).toString("base64url");
    const { caller, action } = mintBody(ada);
    consumeAnswer
      .strict()
      .parse(await (await client.api("POST", `/approvals/${id}/consume`, { caller, action, consumerToken })).json());
    statusAnswer
      .strict()
      .parse(
        await (
          await client.api("POST", `/approvals/${id}/outcome`, { consumerToken, outcome: "failed", code: "x" })
        ).json(),
      );
    statusAnswer
      .strict()
      .parse(await (await client.api("POST", `/approvals/${minted.id}/withdraw`, { reason: "aborted" })).json());
    statusAnswer.strict().parse(await (await client.api("GET", `/approvals/${id}`)).json());
    listAnswer.strict().parse(await (await client.api("GET", "/approvals?limit=1")).json());
    for (const [method, path, body] of [
      ["POST", "/approvals", {}],
      ["GET", "/approvals/nonsense"],
      ["POST", `/approvals/${id}/consume`, { caller, action, consumerToken: "B".repeat(43) }],
      ["PUT", "/approvals"],
    ] as const) {
      const response = await client.api(method, path, body);
      expect(response.headers.get("content-type")).toBe("application/problem+json");
      problemAnswer.strict().parse(await response.json());
    }
  });
});

describe("what the service says of itself", () => {
  it("its issuer, its endpoints and its keys, with no private part; a rotated key is published before it signs", async () => {
    expect(await (await get("/.well-known/countersign")).json()).toMatchObject({
      issuer: t.service.issuer,
      apiVersion: "1",
      algs: ["Ed25519"],
    });
    const before = await get("/.well-known/jwks.json");
    expect(before.headers.get("cache-control")).toBe("public, max-age=300");
    const { keys } = (await before.json()) as { keys: Record<string, unknown>[] };
    expect(keys.map((key) => Object.keys(key).toSorted())).toEqual([["alg", "crv", "kid", "kty", "use", "x"]]);
    const { kid } = await rotateSigningKey(t.service, { kind: "admin", via: "cli" });
    const after = (await (await get("/.well-known/jwks.json")).json()) as { keys: { kid: string }[] };
    expect(after.keys.map((key) => key.kid)).toContain(kid);
    expect(t.service.keys.signer().kid).toBe(keys[0]?.["kid"]);
    expect(t.service.keys.signer(new Date(Date.now() + 601_000)).kid).toBe(kid);
  });

  it("that it is ready, and what is wrong when it is not", async () => {
    expect((await get("/healthz")).status).toBe(200);
    expect([(await get("/readyz")).status]).toEqual([200]);
    t.service.hub.drain();
    const draining = await get("/readyz");
    expect([draining.status, await draining.json()]).toEqual([
      503,
      {
        status: "not_ready",
        checks: { database: "ok", migrations: "ok", keys: "ok", clock: "ok", draining: "failed" },
      },
    ]);
    const away = await createTestService();
    await away.service.pool.end();
    const gone = await createMachineApp(away.service).fetch(new Request("http://localhost:3000/readyz"));
    expect([gone.status, ((await gone.json()) as { checks: { database: string } }).checks.database]).toEqual([
      503,
      "failed",
    ]);
  });
});
