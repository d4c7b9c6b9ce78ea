import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { setPolicy } from "@/lib/clients/set-policy";
import { type Api, addPerson, addTestClient, mintBody, type Person, type TestClient } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";

const actor = { kind: "admin", via: "cli" } as const;
const token = `glpat-${"q7Rt2Wn9Xc4Vb6Lk8Jh3"}`;
const card = "4242 4242 4242 4242";
const myNumber = "123456789018";

let t: TestService;
let client: TestClient;
let ada: Person;

beforeAll(async () => {
  t = await createTestService();
  client = await addTestClient(t.service, { maxMintsPerSubjectPerHour: 1_000, maxPendingPerSubject: 500 });
  ada = await addPerson(t.service);
});
afterAll(() => t.stop());

type Answer = { status: number; code?: string; errors?: { pointer: string; message: string }[]; text: string };

async function ask(change: Record<string, unknown>, headers: Record<string, string> = {}, api: Api = client.api) {
  const response = await api("POST", "/approvals", mintBody(ada, change), headers);
  const text = await response.text();
  return { ...(JSON.parse(text) as object), status: response.status, text } as Answer;
}

const places = ({ status, code, errors = [] }: Answer) => [status, code, ...errors.map(({ pointer }) => pointer)];
const action = (args: object) => ({ action: { tool: "delete_project", arguments: args } });
const presentation = (change: object) => ({ presentation: { title: "Delete project Apollo", ...change } });

/** Every row of every table, as text. */
async function everything(): Promise<string> {
  const { rows: tables } = await t.service.pool.query<{ name: string }>(
    `SELECT quote_ident("table_name") AS "name" FROM "information_schema"."tables"
     WHERE "table_schema" = 'public' AND "table_type" = 'BASE TABLE' ORDER BY 1`,
  );
  expect(tables.length).toBeGreaterThan(10);
  const dumps: string[] = [];
  for (const { name } of tables) {
    const { rows } = await t.service.pool.query<{ row: string }>(
      `SELECT "each"::text AS "row" FROM ${name} "each" ORDER BY 1`,
    );
    dumps.push(name, ...rows.map(({ row }) => row));
  }
  return dumps.join("\n");
}

describe("a request that holds what looks like a secret", () => {
  it.each<[string, Record<string, unknown>, string[]]>([
    ["an argument", action({ config: { "a/b": ["-", token] } }), ["/action/arguments/config/a~1b/1"]],
    ["a number", action({ card: 4242424242424242 }), ["/action/arguments/card"]],
    ["the name of an argument", action({ [token]: 1 }), ["/action/arguments"]],
    ["a title", presentation({ title: `Pay with ${card}` }), ["/presentation/title"]],
    [
      "a language that this reader does not see",
      presentation({ purpose: { en: "File the form", ja: `カード番号は ${card} です` } }),
      ["/presentation/purpose/ja"],
    ],
    [
      "a destination",
      presentation({ destination: "https://ada:hunter2@crm.example.com" }),
      ["/presentation/destination"],
    ],
    [
      "a row, by its label",
      presentation({ details: [{ label: { en: "My Number", ja: "マイナンバー" }, value: `is ${myNumber}.` }] }),
      ["/presentation/details/0/value"],
    ],
    [
      "a check",
      presentation({ checks: [{ label: "Card", claimed: card, actual: card }] }),
      ["/presentation/checks/0/claimed", "/presentation/checks/0/actual"],
    ],
    ["the model's note", presentation({ modelNote: `I read ${token} in .env` }), ["/presentation/modelNote"]],
    ["the MCP client's name", { mcpClient: { name: `app ${token}` } }, ["/mcpClient/name"]],
    ["metadata", { metadata: { orderId: "PO-1", note: card } }, ["/metadata/note"]],
    ["the name of metadata", { metadata: { [`ghp_${"Q7rT2wN9xC".repeat(4).slice(0, 36)}`]: true } }, ["/metadata"]],
    [
      "several, in the order of the body",
      { ...action({ a: token, b: card }), metadata: { c: token } },
      ["/action/arguments/a", "/action/arguments/b", "/metadata/c"],
    ],
  ])(
    "is refused for %s, which is named and not repeated, and leaves nothing in any table (I9)",
    async (_name, change, pointers) => {
      const before = await everything();
      const answer = await ask(change);
      expect(places(answer)).toEqual([422, "secret_in_request", ...pointers]);
      for (const secret of [token, card, "4242424242424242", myNumber, "hunter2", "ghp_"])
        expect(answer.text).not.toContain(secret);
      expect(await everything()).toBe(before);
    },
  );

  it("says of what kind each is, and names ten places at most", async () => {
    const { errors = [] } = await ask(action({ all: Array.from({ length: 12 }, () => token) }));
    expect(errors).toHaveLength(10);
    expect(errors[9]).toEqual({
      pointer: "/action/arguments/all/9",
      message: "looks like an access token or password",
    });
  });

  it("does not use up its Idempotency-Key: the corrected request may have it", async () => {
    const headers = { "Idempotency-Key": "key-of-a-secret" };
    expect(places(await ask(action({ token }), headers))).toEqual([
      422,
      "secret_in_request",
      "/action/arguments/token",
    ]);
    const first = await ask(action({ tokenRef: "vault:crm" }), headers);
    const again = await ask(action({ tokenRef: "vault:crm" }), headers);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect((JSON.parse(again.text) as { id: string }).id).toBe((JSON.parse(first.text) as { id: string }).id);
  });

  it("is not one for identities and preconditions, which are compared and neither kept as text nor shown as such", async () => {
    const answer = await ask({ preconditions: { etag: myNumber, version: token } });
    expect(answer.status).toBe(201);
    expect(await everything()).not.toContain(token);
  });

  it("is not one for the usual numbers and names of a business", async () => {
    const args = {
      order_id: "123456789018",
      commit: "3f9a0c7be215d8463f9a0c7be215d8463f9a0c7b",
      project: "6f1c2a3b-1234-5678-9018-123456789018",
      iban: "DE89 3704 0044 0532 0130 00",
      at: "2026-04-12T15:30:00Z",
      amount: 123456789018,
      phone: "+81 90-1234-5678",
    };
    expect((await ask({ ...action(args), metadata: { orderId: "PO-2026-0412" } })).status).toBe(201);
  });
});

describe("a policy that allows kinds", () => {
  it("lets them into arguments and presentation, and no other kind", async () => {
    const own = await addTestClient(t.service, { allowedSecretKinds: ["card_number"], maxPendingPerSubject: 500 });
    const change = { ...action({ card, token }), ...presentation({ purpose: `Pay with ${card}`, modelNote: card }) };
    expect(places(await ask(change, {}, own.api))).toEqual([422, "secret_in_request", "/action/arguments/token"]);
    expect((await ask({ ...change, ...action({ card }) }, {}, own.api)).status).toBe(201);
  });

  it("lets none into what is never erased: metadata, names of arguments, a title that is retained", async () => {
    const kinds = ["private_key", "api_key", "token", "card_number", "my_number"];
    const own = await addTestClient(t.service, { allowedSecretKinds: kinds, maxPendingPerSubject: 500 });
    const title = `Pay with ${card}`;
    const answer = await ask(
      { ...action({ [token]: token }), ...presentation({ title }), metadata: { note: card } },
      {},
      own.api,
    );
    expect(places(answer)).toEqual([
      422,
      "secret_in_request",
      "/action/arguments",
      "/presentation/title",
      "/metadata/note",
    ]);
    expect(answer.errors?.[2]?.message).toBe(
      "looks like a payment card number, and would be kept for good: no policy allows that",
    );
    expect((await ask(presentation({ title, retainTitle: false }), {}, own.api)).status).toBe(201);
    const key = { kty: "OKP", crv: "Ed25519", x: "a", d: "b" };
    expect((await ask(action(key), {}, own.api)).status).toBe(201);
  });

  it("holds from the version that says so, and a policy stored before there was such a member allows nothing", async () => {
    const own = await addTestClient(t.service);
    await t.service.pool.query(
      `UPDATE "client_policy" SET "policy" = "policy" - 'allowedSecretKinds' WHERE "client_id" = $1`,
      [own.clientId],
    );
    expect((await ask(action({ card }), {}, own.api)).code).toBe("secret_in_request");
    expect((await ask({}, {}, own.api)).status).toBe(201);
    const { version, policy } = await setPolicy(
      t.service,
      own.clientId,
      { allowedSecretKinds: ["card_number"] },
      actor,
    );
    expect([version, policy.allowedSecretKinds, policy.declineCooldownSeconds]).toEqual([2, ["card_number"], 600]);
    t.service.clients.forget(own.keyId);
    expect((await ask(action({ card }), {}, own.api)).status).toBe(201);
  });

  it("is refused for a kind that there is not", async () => {
    const own = await addTestClient(t.service);
    await expect(setPolicy(t.service, own.clientId, { allowedSecretKinds: ["password"] }, actor)).rejects.toMatchObject(
      { code: "invalid_request" },
    );
  });
});
