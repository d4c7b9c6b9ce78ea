import { describe, expect, it, onTestFinished } from "vitest";
import { openPythonClient } from "@/test/support/python-client";
import {
  acceptedReply,
  action,
  apiKey,
  approvalId,
  caller,
  mintReply,
  problemReply,
  type Reply,
  type Seen,
  startHostileService,
} from "./hostile-service";

async function setStage(
  replyTo: (request: Seen, count: number) => Reply,
  options: { late?: boolean; env?: Record<string, string> } = {},
) {
  const service = await startHostileService(replyTo);
  const late = options.late === undefined ? {} : { late: options.late };
  const python = await openPythonClient({ url: service.url, apiKey, ...late }, options.env);
  onTestFinished(() => python.close());
  const call = (name: string, args: unknown[] = [], more: Record<string, unknown> = {}) =>
    python.ask({ do: name, args, options: more });
  const run = () => python.ask({ do: "run", action, args: [caller, { title: "Delete" }], options: {} });
  return { ...service, python, call, run, mint: () => call("mint", [action, caller, { title: "Delete" }]) };
}

const token = "t".repeat(43);
const isConsume = ({ path }: Seen) => path.endsWith("/consume");
/** A service that accepts at once, and answers a consume as the test says. */
const accepting = (consume: (request: Seen, count: number) => Reply) => {
  let count = 0;
  return (request: Seen): Reply => {
    if (request.path === "/api/v1/approvals") return mintReply({ status: "accepted", next: "run" });
    if (request.method === "GET") return acceptedReply();
    if (!isConsume(request)) return acceptedReply();
    count += 1;
    return consume(request, count);
  };
};
const granted: Reply = { status: 200, body: { granted: true, replayed: false, receipt: "a.b.c" } };

describe("the Python client, against a service that is not what it should be", () => {
  it.each([301, 302, 303, 307, 308])("does not follow a %i, which would carry the key elsewhere", async (status) => {
    const elsewhere = await startHostileService(() => mintReply());
    const stage = await setStage(() => ({ status, headers: { location: `${elsewhere.url}/` }, body: {} }));
    expect((await stage.mint()).raised).toMatchObject({ type: "Unreachable", status });
    expect([stage.seen.length, elsewhere.seen.length]).toEqual([1, 0]);
  });

  it("does not send the key to a proxy on its way to loopback", async () => {
    const proxy = await startHostileService(() => mintReply());
    const env = { http_proxy: proxy.url, HTTP_PROXY: proxy.url, all_proxy: proxy.url };
    const stage = await setStage(() => mintReply(), { env });
    expect((await stage.mint()).returned).toMatchObject({ id: approvalId });
    expect(proxy.seen).toEqual([]);
  });

  it.each([
    ["another digest", { actionDigest: `sha256:${"0".repeat(64)}` }],
    ["another salt", { salt: "another" }],
    ["no salt", { salt: undefined }],
  ])("I3: takes no approval with %s, and withdraws it", async (_, change) => {
    const stage = await setStage((request) =>
      request.path.endsWith("/withdraw") ? acceptedReply() : mintReply(change),
    );
    expect((await stage.run()).raised).toMatchObject({ type: "Unverifiable", approval_id: approvalId });
    expect(stage.seen.map(({ path }) => path.split("/").at(-1))).toEqual(["approvals", "withdraw"]);
  });

  it("I15: takes no approval of another caller or another id", async () => {
    for (const change of [{ caller: { ...caller, sub: "mallory" } }, { id: approvalId.replace("0", "1") }]) {
      const stage = await setStage((request) =>
        request.method === "GET" ? acceptedReply(change) : mintReply({ next: "run" }),
      );
      expect(await stage.run()).toMatchObject({ raised: { type: "Unverifiable" }, runs: [] });
      expect(stage.seen.some(isConsume)).toBe(false);
    }
  });

  it.each([
    ["an empty object", {}],
    ["a grant that is no boolean", { granted: "true", receipt: "a.b.c" }],
    ["a refusal in a 200", { granted: false, receipt: "a.b.c" }],
    ["a list", []],
    ["no JSON", "granted"],
    ["half an answer", '{"granted":true'],
    ["a very deep answer", "[".repeat(100_000)],
  ])("I13: does not run on %s", async (_, body) => {
    const stage = await setStage(accepting(() => ({ status: 200, body })));
    const answer = await stage.run();
    expect(answer.runs).toEqual([]);
    expect(["Unverifiable", "Unreachable"]).toContain(answer.raised?.type);
  });

  it.each<[string, string, Record<string, unknown>]>([
    ["already_consumed", "AlreadyRun", { outcome: "succeeded", consumed_at: "2026-12-01T00:00:00Z" }],
    ["lapsed", "Lapsed", {}],
    ["not_accepted", "Withdrawn", { reason: "taken_back" }],
    ["action_mismatch", "Refused", { code: "action_mismatch" }],
    ["integrity_failed", "Refused", { code: "integrity_failed" }],
  ])("does not run on a consume that is refused as %s, and raises %s", async (code, type, facts) => {
    const more = { consumedAt: "2026-12-01T00:00:00Z", outcome: "succeeded" };
    let isRefused = false;
    const consume = () => {
      isRefused = true;
      return problemReply(409, code, code === "already_consumed" ? more : {});
    };
    const takenBack = { status: "withdrawn", next: "stop", reason: "taken_back" };
    const stage = await setStage((request) => (isRefused ? acceptedReply(takenBack) : accepting(consume)(request)));
    expect(await stage.run()).toMatchObject({ raised: { type, approval_id: approvalId, ...facts }, runs: [] });
    expect(stage.seen.filter(isConsume)).toHaveLength(1);
  });

  it("I12: reports and does not run what was granted too late to start at once", async () => {
    const stage = await setStage(
      accepting(() => granted),
      { late: true },
    );
    expect(await stage.run()).toMatchObject({ raised: { type: "NotStarted", approval_id: approvalId }, runs: [] });
    expect(JSON.parse(stage.seen.at(-1)?.body ?? "")).toMatchObject({ outcome: "failed", code: "not_started" });
  });

  it("I14: repeats a lost consume with the same token, and runs once", async () => {
    const stage = await setStage(accepting((_, count) => (count === 1 ? undefined : granted)));
    expect((await stage.run()).runs).toHaveLength(1);
    const bodies = stage.seen.filter(isConsume).map(({ body }) => body);
    expect([bodies.length, new Set(bodies).size]).toEqual([2, 1]);
    expect(JSON.parse(bodies[0] ?? "").consumerToken).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it("I5: makes another token for another attempt", async () => {
    const stage = await setStage(accepting(() => granted));
    await stage.run();
    await stage.run();
    expect(new Set(stage.seen.filter(isConsume).map(({ body }) => body)).size).toBe(2);
  });

  it("I14: repeats a lost mint with the same Idempotency-Key, and asks anew with another", async () => {
    const stage = await setStage((_, count) => (count === 1 ? undefined : mintReply()));
    await stage.mint();
    await stage.mint();
    const keys = stage.seen.map(({ headers }) => headers["idempotency-key"]);
    expect([keys.length, keys[0] === keys[1], new Set(keys).size]).toEqual([3, true, 2]);
  });

  it.each([
    [503, 3],
    [500, 1],
  ])("I13: gives up on a %i after %i attempts", async (status, attempts) => {
    const stage = await setStage(() => problemReply(status, "unavailable"));
    expect((await stage.mint()).raised).toMatchObject({ type: "Unreachable", status });
    expect(stage.seen).toHaveLength(attempts);
  });

  it("tells a refusal by its code, place and waiting time, and does not repeat it", async () => {
    const stage = await setStage(() => ({
      status: 429,
      headers: { "retry-after": "30" },
      body: { code: "mint_rate", errors: [{ pointer: "/caller", message: "x" }] },
    }));
    expect((await stage.mint()).raised).toMatchObject({
      type: "Refused",
      code: "mint_rate",
      status: 429,
      pointer: "/caller",
      retry_after_seconds: 30,
    });
    expect(stage.seen).toHaveLength(1);
  });

  it("sends what it digested: canonical JSON, exact, and the key in its header alone", async () => {
    const stage = await setStage(() => mintReply());
    await stage.call("mint", [{ tool: "t", arguments: { b: 1.0, a: "\u{1f600}" } }, caller, { title: "T" }]);
    const [{ headers, body } = { headers: {}, body: "" }] = stage.seen;
    expect(body).toContain('"action":{"arguments":{"a":"\u{1f600}","b":1},"tool":"t"}');
    expect(headers["authorization"]).toBe(`Bearer ${apiKey}`);
    expect(body + stage.seen[0]?.path).not.toContain("csk_");
  });

  it("never asks about what JSON would alter", async () => {
    const stage = await setStage(() => mintReply());
    const answer = await stage.call("mint", [{ tool: "t", arguments: { a: [2 ** 60] } }, caller, { title: "T" }]);
    expect(answer.raised).toMatchObject({ type: "InexactValueError", code: "number_not_exact", pointer: "/a/0" });
    expect(stage.seen).toEqual([]);
  });

  it.each<[string, Reply]>([
    ["a lost answer", undefined],
    ["a refusal", problemReply(403, "frozen")],
    ["an answer that is none", acceptedReply()],
  ])(
    "shows neither key nor token after %s in what error reporters print, local variables included",
    async (_, reply) => {
      const stage = await setStage(accepting(() => reply));
      const answers = [await stage.run(), await stage.call("status", ["apr_nonsense"])];
      const sent: string = JSON.parse(stage.seen.find(isConsume)?.body ?? "").consumerToken;
      expect(answers.map(({ raised }) => raised?.trace.includes("Traceback"))).toEqual([true, true]);
      for (const text of [JSON.stringify(answers), JSON.stringify(stage.python.opened)]) {
        expect(text).not.toContain(apiKey);
        expect(text).not.toContain(sent);
      }
    },
  );

  it("asks for no other path than that of an approval", async () => {
    const stage = await setStage(() => acceptedReply());
    for (const id of ["", "..", `${approvalId}/consume`, `${approvalId}\n`, "apr_0000000000000000000000000O"]) {
      for (const [name, rest] of [
        ["status", []],
        ["consume", [action, caller, token]],
        ["withdraw", []],
      ] as const)
        expect((await stage.call(name, [id, ...rest])).raised?.type).toBe("ValueError");
    }
    expect(stage.seen).toEqual([]);
  });
});

describe("the Python client's settings", () => {
  const open = async (settings: { url: string; apiKey: string }[]) => {
    const python = await openPythonClient({ url: "https://countersign.example.com", apiKey });
    const answers = [];
    for (const one of settings) answers.push(await python.ask({ do: "open", ...one }));
    await python.close();
    return answers;
  };

  it("are refused for a URL that is no origin, or not safe for a key", async () => {
    const urls = [
      "http://countersign.example.com",
      "http://localhost.example.com",
      "http://127.0.0.1@example.com",
      "https://user:pass@countersign.example.com",
      "https://countersign.example.com/api",
      "https://countersign.example.com/?a=b",
      "https://countersign.example.com\n",
      "https://countersign.example.com\\@evil.example",
      "ftp://countersign.example.com",
      "file:///etc/passwd",
      "countersign.example.com",
      "",
    ];
    const answers = await open(urls.map((url) => ({ url, apiKey })));
    expect(answers.map(({ raised }, index) => [urls[index], raised?.type])).toEqual(
      urls.map((url) => [url, "ValueError"]),
    );
    expect(JSON.stringify(answers)).not.toContain(apiKey);
  });

  it("are refused for what is no API key, without repeating it", async () => {
    const url = "https://countersign.example.com";
    for (const { raised } of await open(
      ["sk-live-secret", "csk_secret\n", "csk_sec ret"].map((key) => ({ url, apiKey: key })),
    )) {
      expect(raised?.type).toBe("ValueError");
      expect(raised?.message).not.toContain("sec");
    }
  });

  it("are taken for https and for http on loopback", async () => {
    const urls = [
      "https://countersign.example.com:8443",
      "http://localhost:3000",
      "http://127.0.0.1",
      "http://[::1]:3000",
    ];
    const answers = await open(urls.map((url) => ({ url: `${url}/`, apiKey })));
    expect(answers.map(({ returned }) => returned)).toEqual(urls.map((url) => `Countersign('${url}')`));
  });
});
