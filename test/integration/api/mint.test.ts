import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey } from "@/lib/api-keys/create";
import { liftCooldown } from "@/lib/approvals/lift-cooldown";
import { setPolicy } from "@/lib/clients/set-policy";
import { csrfToken } from "@/lib/sessions/csrf";
import {
  addPerson,
  addTestClient,
  apiFor,
  mintApproval,
  mintBody,
  type Person,
  signIn,
  type TestClient,
} from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { expireIn } from "@/test/support/deadline";
import { decideAs } from "@/test/support/deciding";

let t: TestService;
let client: TestClient;
let ada: Person;

beforeAll(async () => {
  t = await createTestService();
  client = await addTestClient(t.service, { maxMintsPerSubjectPerHour: 1_000, maxPendingPerSubject: 500 });
  ada = await addPerson(t.service);
});
afterAll(() => t.stop());

const rowCount = async () => Number((await t.service.pool.query(`SELECT count(*) FROM "approval"`)).rows[0]?.count);

async function refusal(body: unknown, headers: Record<string, string> = {}, api = client.api) {
  const response = await api("POST", "/approvals", body, headers);
  const problem = (await response.json()) as { code?: string; errors?: { pointer: string }[] };
  return [response.status, problem.code, ...(problem.errors ?? []).map((e) => e.pointer)];
}

describe("asking for an approval", () => {
  it("answers with everything an author needs and a link that holds the id alone (I10)", async () => {
    const response = await client.api("POST", "/approvals", mintBody(ada, { requirements: { matchCode: true } }));
    const answer = (await response.json()) as Record<string, unknown>;
    expect(response.status).toBe(201);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("x-request-id")).toMatch(/^req_/);
    expect(answer).toEqual({
      id: expect.stringMatching(/^apr_[0-9a-hjkmnp-tv-z]{26}$/),
      status: "pending",
      next: "wait",
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      expiresAt: expect.stringMatching(/Z$/),
      actionDigest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      salt: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/),
      url: `http://localhost:3000/a/${answer["id"]}`,
      matchCode: expect.stringMatching(/^[1-9]\d$/),
      effectiveRequirements: {
        maxAuthAgeSeconds: 900,
        passkey: "off",
        matchCode: true,
        actBySeconds: 300,
        stepUpSeconds: 300,
      },
      elicitation: {
        mode: "url",
        url: answer["url"],
        message: expect.stringContaining(`code is ${answer["matchCode"]}`),
      },
      warnings: ["subject_never_signed_in"],
      record: expect.stringMatching(/^eyJ/),
    });
    expect(JSON.stringify(answer["elicitation"])).not.toContain("p_42");
  });

  it.each([
    ["not JSON", "{", [400, "malformed_json", ""]],
    [
      "a number that a double cannot hold",
      `{"action":{"arguments":{"n":9007199254740993.0}}}`,
      [422, "number_not_exact", "/action/arguments/n"],
    ],
    ["negative zero", `{"action":{"arguments":{"n":-0}}}`, [422, "number_not_exact", "/action/arguments/n"]],
    ["a duplicate key", `{"action":{"arguments":{"a":1,"\\u0061":2}}}`, [422, "duplicate_key", "/action/arguments/a"]],
    ["__proto__", `{"action":{"arguments":{"__proto__":{}}}}`, [422, "forbidden_key", "/action/arguments/__proto__"]],
    ["a lone surrogate", `{"action":{"arguments":{"a":"\\ud800"}}}`, [422, "lone_surrogate", "/action/arguments/a"]],
    ["U+0000", `{"action":{"arguments":{"a":"\\u0000"}}}`, [422, "nul_character", "/action/arguments/a"]],
    [
      "33 levels",
      `{"action":{"arguments":${'{"a":'.repeat(32)}{}${"}".repeat(32)}}}`,
      [422, "too_deep", `/action/arguments${"/a".repeat(32)}`],
    ],
  ])("refuses %s, names the field and stores nothing", async (_name, body, expected) => {
    const before = await rowCount();
    expect(await refusal(body)).toEqual(expected);
    expect(await rowCount()).toBe(before);
  });

  it("refuses bodies that are not of the form, naming each field, and stores nothing", async () => {
    const before = await rowCount();
    const body = mintBody(ada);
    expect(await refusal({ ...body, extra: 1 })).toEqual([400, "invalid_request", "/extra"]);
    expect(await refusal({ ...body, ttlSeconds: 5 })).toEqual([400, "invalid_request", "/ttlSeconds"]);
    expect(await refusal({ ...body, ttlSeconds: "300" })).toEqual([400, "invalid_request", "/ttlSeconds"]);
    expect(await refusal({ ...body, action: { ...body.action, tool: "rm -rf" } })).toEqual([
      400,
      "invalid_request",
      "/action/tool",
    ]);
    expect(await refusal({ ...body, action: { tool: "t", arguments: [] } })).toEqual([
      400,
      "invalid_request",
      "/action/arguments",
    ]);
    expect(await refusal({ ...body, presentation: { title: "two\nlines" } })).toEqual([
      400,
      "invalid_request",
      "/presentation/title",
    ]);
    expect(await refusal({ ...body, presentation: { title: "x".repeat(201) } })).toEqual([
      400,
      "invalid_request",
      "/presentation/title",
    ]);
    expect(await refusal({ ...body, metadata: { a: { b: 1 } } })).toEqual([400, "invalid_request", "/metadata/a"]);
    expect(await refusal({ ...body, caller: { iss: ada.iss } })).toEqual([400, "invalid_request", "/caller/sub"]);
    expect(await refusal(JSON.stringify(body), { "Content-Type": "text/plain" })).toEqual([
      415,
      "unsupported_media_type",
    ]);
    expect(await refusal({ ...body, metadata: { a: "x".repeat(140_000) } })).toEqual([413, "body_too_large"]);
    expect(await refusal({ ...body, action: { tool: "t", arguments: { a: "x".repeat(65_530) } } })).toEqual([
      422,
      "arguments_too_large",
      "/action/arguments",
    ]);
    const tooMany = { a: Array.from({ length: 5_000 }, () => 0) };
    expect(await refusal({ ...body, action: { tool: "t", arguments: tooMany } })).toEqual([
      422,
      "arguments_too_large",
      "/action/arguments",
    ]);
    expect((await client.api("GET", "/approvals?tool=%00")).status).toBe(400);
    expect(await refusal(body, { "Idempotency-Key": "with space" })).toEqual([
      400,
      "invalid_request",
      "/Idempotency-Key",
    ]);
    expect(await rowCount()).toBe(before);
  });

  it("I3: 60 KB of arguments with odd names, deep nesting and exact numbers are signed as they were sent", async () => {
    let nested: unknown = "bottom";
    for (let i = 0; i < 29; i += 1) nested = { deeper: nested };
    const args = {
      big: "あ".repeat(19_000),
      constructor: 1,
      toString: "x",
      "": "empty name",
      "a/b~c": [1e2, 1.5, 5e-324, true, null],
      nested: [nested],
    };
    const { record } = await mintApproval(client, ada, { action: { tool: "t", arguments: args } });
    const claims = JSON.parse(Buffer.from(String(record).split(".")[1] ?? "", "base64url").toString()) as {
      action: { arguments: unknown };
    };
    expect(claims.action.arguments).toEqual(args);
  });

  it("I16: a request cannot lower what the policy demands, and may raise it", async () => {
    const strict = await addTestClient(t.service, {
      default: { maxAuthAgeSeconds: 60, matchCode: true, maxTtlSeconds: 120, maxActBySeconds: 30 },
    });
    const weak = await mintApproval(strict, ada, {
      requirements: { maxAuthAgeSeconds: 86_400, passkey: "off", matchCode: false },
      ttlSeconds: 86_400,
      actBySeconds: 3_600,
    });
    expect(weak.effectiveRequirements).toEqual({
      maxAuthAgeSeconds: 60,
      passkey: "off",
      matchCode: true,
      actBySeconds: 30,
      stepUpSeconds: 60,
    });
    expect(Date.parse(weak.expiresAt) - Date.parse(weak.createdAt)).toBe(120_000);
    const strong = await mintApproval(strict, ada, { requirements: { maxAuthAgeSeconds: 0 } });
    expect(strong.effectiveRequirements).toMatchObject({ maxAuthAgeSeconds: 0, matchCode: true });
  });

  it("refuses what the policy does not allow, each with its code", async () => {
    const narrow = await addTestClient(
      t.service,
      { tools: ["delete_project"] },
      { tools: ["delete_project", "other"] },
    );
    expect(await refusal(mintBody(ada, { action: { tool: "other", arguments: {} } }), {}, narrow.api)).toEqual([
      403,
      "tool_not_allowed",
      "/action/tool",
    ]);
    expect(await refusal(mintBody({ iss: "https://foreign.example", sub: ada.sub }), {}, narrow.api)).toEqual([
      403,
      "issuer_not_allowed",
      "/caller/iss",
    ]);
    expect(await refusal({ ...mintBody(ada), subject: { iss: ada.iss, sub: "somebody-else" } })).toEqual([
      422,
      "approver_differs",
      "/subject",
    ]);
    expect(await refusal({ ...mintBody(ada), requirements: { passkey: "required", twoPeople: true } })).toEqual([
      422,
      "unsupported_requirement",
      "/requirements/twoPeople",
    ]);
    const checks = [
      { label: "Items", claimed: 318, actual: 318 },
      { label: "Active", claimed: true, actual: 1 },
    ];
    expect(await refusal({ ...mintBody(ada), presentation: { title: "t", checks } })).toEqual([
      422,
      "check_mismatch",
      "/presentation/checks/1",
    ]);
  });

  it("a policy of passkeys for a tool holds whatever the request asks, and the answer says so (I16)", async () => {
    const strict = await addTestClient(t.service, { perTool: [{ tool: "delete_project", passkey: "required" }] });
    const asked = await mintApproval(strict, ada, { requirements: { passkey: "off", matchCode: false } });
    expect(asked.effectiveRequirements).toMatchObject({ passkey: "required", matchCode: false });
    const other = { action: { tool: "list_projects", arguments: {} } };
    expect((await mintApproval(strict, ada, other)).effectiveRequirements).toMatchObject({ passkey: "off" });
  });

  it("a stricter policy holds from the moment it is set, also for a key that is remembered", async () => {
    const late = await addTestClient(t.service);
    await mintApproval(late, ada);
    await setPolicy(t.service, late.clientId, { default: { matchCode: true } }, { kind: "admin", via: "cli" });
    expect((await mintApproval(late, ada, { requirements: { matchCode: false } })).effectiveRequirements).toMatchObject(
      { matchCode: true },
    );
  });

  it("of 20 requests at once no more are pending than the policy allows", async () => {
    const few = await addTestClient(t.service, { maxPendingPerSubject: 3 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => few.api("POST", "/approvals", mintBody(ada))));
    expect(answers.map((a) => a.status).filter((status) => status === 201)).toHaveLength(3);
    const refused = answers.find((a) => a.status === 429);
    const problem = (await refused?.json()) as { code: string } | undefined;
    expect([problem?.code, refused?.headers.get("retry-after")]).toEqual(["too_many_pending", "30"]);
  });

  it("no more are minted in an hour for one person than the policy allows, whatever became of them", async () => {
    const few = await addTestClient(t.service, { maxMintsPerSubjectPerHour: 2 });
    for (let i = 0; i < 2; i += 1)
      await few.api("POST", `/approvals/${(await mintApproval(few, ada)).id}/withdraw`, { reason: "aborted" });
    expect((await refusal(mintBody(ada), {}, few.api)).slice(0, 2)).toEqual([429, "mint_rate"]);
    const other = await addPerson(t.service, "Bob");
    expect((await few.api("POST", "/approvals", mintBody(other))).status).toBe(201);
  });

  it("after a decline an equal action is refused for this person, until the person lifts it", async () => {
    const { session } = await signIn(t.service, ada);
    const own = await addTestClient(t.service);
    const { id } = await mintApproval(own, ada);
    await decideAs(t.service, session, id, "decline");
    expect(
      (await refusal(mintBody(ada, { presentation: { title: "Another title" } }), {}, own.api)).slice(0, 2),
    ).toEqual([409, "recently_declined"]);
    const bob = await addPerson(t.service, "Bob");
    expect((await own.api("POST", "/approvals", mintBody(bob))).status).toBe(201);
    const bobs = await signIn(t.service, bob);
    const csrf = (sid: string) => csrfToken(t.service.secrets, { sid, purpose: "lift_cooldown", target: id });
    expect(await liftCooldown(t.service, bobs.session, id, csrf(bobs.session.sid))).toBe(false);
    expect(await liftCooldown(t.service, session, id, csrf(session.sid))).toBe(true);
    expect((await own.api("POST", "/approvals", mintBody(ada))).status).toBe(201);
  });

  it("I didn't ask for this: declines, withdraws what is live, and refuses this client for this person", async () => {
    const { session } = await signIn(t.service, ada);
    const own = await addTestClient(t.service);
    const [first, accepted, pending] = [
      await mintApproval(own, ada),
      await mintApproval(own, ada),
      await mintApproval(own, ada),
    ];
    await decideAs(t.service, session, accepted.id, "accept");
    await decideAs(t.service, session, first.id, "not_requested");
    const read = async (id: string) => (await (await own.api("GET", `/approvals/${id}`)).json()) as object;
    expect(await read(first.id)).toMatchObject({ status: "declined", reason: "not_requested" });
    expect(await read(accepted.id)).toMatchObject({ status: "withdrawn", reason: "frozen" });
    expect(await read(pending.id)).toMatchObject({ status: "withdrawn", reason: "frozen" });
    expect(
      (await refusal(mintBody(ada, { action: { tool: "other", arguments: {} } }), {}, own.api)).slice(0, 2),
    ).toEqual([403, "frozen"]);
    const consumed = await own.api("POST", `/approvals/${accepted.id}/consume`, {
      caller: mintBody(ada).caller,
      consumerToken: "A".repeat(43),
      action: mintBody(ada).action,
    });
    expect([consumed.status, ((await consumed.json()) as { code: string }).code]).toEqual([403, "frozen"]);
    const bob = await addPerson(t.service, "Bob");
    expect((await own.api("POST", "/approvals", mintBody(bob))).status).toBe(201);
  });
});

describe("asking again", () => {
  it("an idempotency key gives the first approval with its current status; another body is refused", async () => {
    const headers = { "Idempotency-Key": "order-7" };
    const first = await client.api("POST", "/approvals", mintBody(ada), headers);
    const { id } = (await first.json()) as { id: string };
    const { session } = await signIn(t.service, ada);
    await decideAs(t.service, session, id, "accept");
    const again = await client.api("POST", "/approvals", mintBody(ada), headers);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(await again.json()).toMatchObject({
      id,
      status: "accepted",
      next: "run",
      salt: expect.any(String),
      record: expect.any(String),
    });
    expect((await refusal(mintBody(ada, { ttlSeconds: 60 }), headers)).slice(0, 2)).toEqual([
      422,
      "idempotency_key_reused",
    ]);
    const other = await addTestClient(t.service);
    expect(
      (await other.api("POST", "/approvals", mintBody(ada), headers)).headers.get("idempotency-replayed"),
    ).toBeNull();
  });

  it("a key that may not use the tool is given no replay of another key's request", async () => {
    const both = await addTestClient(t.service);
    await both.api("POST", "/approvals", mintBody(ada), { "Idempotency-Key": "shared" });
    const actor = { kind: "admin", via: "cli" } as const;
    const { apiKey } = await createKey(t.service, { clientId: both.clientId, tools: ["other"] }, actor);
    expect(await refusal(mintBody(ada), { "Idempotency-Key": "shared" }, apiFor(t.service, apiKey))).toEqual([
      403,
      "tool_not_allowed",
      "/action/tool",
    ]);
  });

  it("ten parallel requests with one idempotency key make one approval", async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        client.api("POST", "/approvals", mintBody(ada), { "Idempotency-Key": "parallel" }),
      ),
    );
    const ids = await Promise.all(answers.map(async (a) => ((await a.json()) as { id: string }).id));
    expect([new Set(ids).size, answers.filter((a) => a.headers.get("idempotency-replayed") === null).length]).toEqual([
      1, 1,
    ]);
  });

  it("reuse gives the live approval while everything shown and binding is equal, pending or accepted", async () => {
    const { session } = await signIn(t.service, ada);
    const body = (change: object = {}) =>
      mintBody(ada, { action: { tool: "reuse", arguments: { n: 1 } }, reuse: "live", ...change });
    const first = await client.api("POST", "/approvals", body());
    const { id } = (await first.json()) as { id: string };
    const second = await client.api(
      "POST",
      "/approvals",
      body({
        mcpClient: { name: "Other" },
        ttlSeconds: 60,
        presentation: { ...mintBody(ada).presentation, modelNote: "new words" },
      }),
    );
    expect([first.status, second.status, ((await second.json()) as { id: string }).id]).toEqual([201, 200, id]);
    await decideAs(t.service, session, id, "accept");
    expect((await (await client.api("POST", "/approvals", body())).json()) as object).toMatchObject({
      id,
      status: "accepted",
      next: "run",
    });
    const consumed = await client.api("POST", `/approvals/${id}/consume`, {
      caller: mintBody(ada).caller,
      consumerToken: "A".repeat(43),
      action: { tool: "reuse", arguments: { n: 1 } },
    });
    expect(consumed.status).toBe(200);
    const third = await client.api("POST", "/approvals", body());
    expect([third.status, ((await third.json()) as { id: string }).id === id]).toEqual([201, false]);
  });

  it.each([
    ["another presentation", { presentation: { title: "Something milder" } }],
    ["another requirement", { requirements: { matchCode: true } }],
    ["other preconditions", { preconditions: { etag: "v2" } }],
    ["a longer act-by window", { actBySeconds: 3_600 }],
  ])("reuse with %s withdraws the pending one as superseded and makes a new one", async (name, change) => {
    const own = await addTestClient(t.service);
    const body = (more: object = {}) =>
      mintBody(ada, { action: { tool: "supersede", arguments: { name } }, reuse: "live", ...more });
    const first = (await (await own.api("POST", "/approvals", body())).json()) as { id: string };
    const second = await own.api("POST", "/approvals", body(change));
    expect([second.status, ((await second.json()) as { id: string }).id === first.id]).toEqual([201, false]);
    expect((await (await own.api("GET", `/approvals/${first.id}`)).json()) as object).toMatchObject({
      status: "withdrawn",
      reason: "superseded",
    });
  });

  it("an accepted approval is given back to its own request, though another of the same action is pending beside it", async () => {
    const own = await addTestClient(t.service);
    const { session } = await signIn(t.service, ada);
    const ask = async (title: string) =>
      (await (
        await own.api("POST", "/approvals", mintBody(ada, { reuse: "live", presentation: { title } }))
      ).json()) as { id: string };
    const first = await ask("First");
    await decideAs(t.service, session, first.id, "accept");
    const second = await ask("Second");
    expect([second.id === first.id, (await ask("First")).id, (await ask("Second")).id]).toEqual([
      false,
      first.id,
      second.id,
    ]);
  });

  it("twenty parallel requests with reuse leave one live approval", async () => {
    const own = await addTestClient(t.service);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => own.api("POST", "/approvals", mintBody(ada, { reuse: "live" }))),
    );
    expect(new Set(await Promise.all(answers.map(async (a) => ((await a.json()) as { id: string }).id))).size).toBe(1);
  });

  it("reuse never returns what has expired: it is ended and a new one is made", async () => {
    const own = await addTestClient(t.service);
    const first = (await (await own.api("POST", "/approvals", mintBody(ada, { reuse: "live" }))).json()) as {
      id: string;
    };
    await expireIn(t.service, first.id, 0);
    const second = await own.api("POST", "/approvals", mintBody(ada, { reuse: "live" }));
    expect([second.status, ((await second.json()) as { id: string }).id === first.id]).toEqual([201, false]);
    expect((await (await own.api("GET", `/approvals/${first.id}`)).json()) as object).toMatchObject({
      status: "expired",
      receipt: expect.any(String),
    });
  });
});

describe("who may ask", () => {
  it("every bad key gets one answer, and a good key without the scope is told so before anything about the id", async () => {
    const bad = [
      undefined,
      "nonsense",
      `csk_000000000000_${"A".repeat(43)}`,
      client.apiKey.slice(0, -1) + (client.apiKey.endsWith("A") ? "B" : "A"),
    ];
    const answers = await Promise.all(
      bad.map(async (key) => {
        const response = await apiFor(t.service, key)("GET", "/approvals/apr_00000000000000000000000000");
        const { instance: _instance, ...problem } = (await response.json()) as Record<string, unknown>;
        return { status: response.status, www: response.headers.get("www-authenticate"), ...problem };
      }),
    );
    expect(new Set(answers.map((a) => JSON.stringify(a))).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 401, code: "unauthorized" });
    const reader = await addTestClient(t.service, {}, { scopes: ["approvals:read"] });
    for (const id of ["apr_00000000000000000000000000", (await mintApproval(client, ada)).id]) {
      const response = await reader.api("POST", `/approvals/${id}/withdraw`, { reason: "aborted" });
      expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([403, "missing_scope"]);
    }
  });

  it("I2: another client's approval, an unknown and a malformed id are the same 404", async () => {
    const other = await addTestClient(t.service);
    const foreign = await mintApproval(client, ada);
    const answers = await Promise.all(
      [foreign.id, "apr_00000000000000000000000000", "nonsense"].map(async (id) => {
        const response = await other.api("GET", `/approvals/${id}?wait=0`);
        const { instance: _instance, ...problem } = (await response.json()) as Record<string, unknown>;
        return JSON.stringify([response.status, problem]);
      }),
    );
    expect([new Set(answers).size, answers[0]]).toEqual([1, expect.stringContaining('"not_found"')]);
  });

  it("a cookie is no credential here, and a revoked key is none from that moment on", async () => {
    const { cookie } = await signIn(t.service, ada);
    expect((await apiFor(t.service, undefined)("GET", "/approvals", undefined, { cookie })).status).toBe(401);
    const own = await addTestClient(t.service);
    await mintApproval(own, ada);
    await t.service.pool.query(`UPDATE "api_key" SET "revoked_at" = clock_timestamp() WHERE "key_id" = $1`, [
      own.keyId,
    ]);
    expect((await own.api("POST", "/approvals", mintBody(ada))).status).toBe(401);
  });

  it("a key that was revoked in another process consumes, reports and withdraws nothing more, though this one remembers it", async () => {
    const own = await addTestClient(t.service);
    const { session } = await signIn(t.service, ada);
    const [pending, accepted] = [await mintApproval(own, ada), await mintApproval(own, ada)];
    await decideAs(t.service, session, accepted.id, "accept");
    await own.api("GET", `/approvals/${pending.id}`);
    await t.service.pool.query(`UPDATE "api_key" SET "revoked_at" = clock_timestamp() WHERE "key_id" = $1`, [
      own.keyId,
    ]);
    const { caller, action } = mintBody(ada);
    const consumed = await own.api("POST", `/approvals/${accepted.id}/consume`, {
      caller,
      action,
      consumerToken: "A".repeat(43),
    });
    expect([
      consumed.status,
      (await own.api("POST", `/approvals/${pending.id}/withdraw`, { reason: "aborted" })).status,
    ]).toEqual([401, 401]);
  });

  it("lists the client's own, newest first, page by page, each once", async () => {
    const own = await addTestClient(t.service);
    const ids: string[] = [];
    for (let i = 0; i < 5; i += 1) ids.push((await mintApproval(own, ada)).id);
    await own.api("POST", `/approvals/${ids[0]}/withdraw`, { reason: "aborted" });
    const listed: string[] = [];
    let cursor: string | undefined;
    do {
      const page = (await (await own.api("GET", `/approvals?limit=2${cursor ? `&cursor=${cursor}` : ""}`)).json()) as {
        approvals: { id: string }[];
        nextCursor?: string;
      };
      listed.push(...page.approvals.map((a) => a.id));
      cursor = page.nextCursor;
    } while (cursor);
    expect(listed.toSorted()).toEqual(ids.toSorted());
    const withdrawn = (await (await own.api("GET", "/approvals?status=withdrawn")).json()) as {
      approvals: { id: string }[];
    };
    expect(withdrawn.approvals.map((a) => a.id)).toEqual([ids[0]]);
    const forged = await own.api("GET", "/approvals?cursor=W10");
    expect([forged.status, ((await forged.json()) as { code: string }).code]).toEqual([400, "invalid_request"]);
  });
});
