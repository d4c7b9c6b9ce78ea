import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { CountersignError, createApiClient, type MintRequest } from "@countersign/mcp";
import { newApprovalId } from "@countersign/mcp/fake/approval";
import { describe, expect, it, onTestFinished } from "vitest";
import { startFakeService } from "./fake-service";

const caller = { iss: "https://as.example.com", sub: "alice" };
const request: MintRequest = {
  caller,
  action: { tool: "delete_project", arguments: { project_id: "p_42" } },
  presentation: { title: "Delete project Apollo" },
};
const token = "t".repeat(43);

async function setStage() {
  const service = await startFakeService();
  onTestFinished(service.close);
  return { service, api: createApiClient({ url: service.url, apiKey: service.apiKey }) };
}

async function errorOf(promise: Promise<unknown>): Promise<CountersignError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof CountersignError)) throw new Error("expected a CountersignError");
  return error;
}

describe("the client of the machine API", () => {
  it("mints, waits, consumes, reports and withdraws", async () => {
    const { service, api } = await setStage();
    const minted = await api.mint(request);
    expect(minted).toMatchObject({ reused: false, status: "pending", next: "wait", matchCode: "47" });
    expect(await api.status(minted.id)).toMatchObject({ status: "pending", next: "wait" });
    const parked = service.nextParked(minted.id);
    const waiting = api.wait(minted.id, { seconds: 25 });
    await parked;
    await service.decide(minted.id, "accept", { note: "fine" });
    expect(await waiting).toMatchObject({ status: "accepted", next: "run", decision: "accept", note: "fine" });
    const { action } = request;
    const granted = await api.consume(minted.id, { caller, action, consumerToken: token });
    expect(granted).toMatchObject({ granted: true, replayed: false });
    await api.reportOutcome(minted.id, { consumerToken: token, outcome: "succeeded" });
    expect(await api.status(minted.id)).toMatchObject({ next: "done", outcome: "succeeded" });
    const another = await api.mint(request);
    await api.withdraw(another.id, { reason: "aborted" });
    expect(await api.status(another.id)).toMatchObject({ status: "withdrawn", next: "stop" });
  });

  it("I14: a mint whose answer was lost is sent again under one idempotency key", async () => {
    const { service, api } = await setStage();
    service.plan("mint", { kind: "drop" });
    await api.mint(request);
    const keys = service.seen.map(({ headers }) => headers["idempotency-key"]);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(keys[1]).toBe(keys[0]);
  });

  it("two mints are two requests, also with the same content", async () => {
    const { service, api } = await setStage();
    await api.mint(request);
    await api.mint(request);
    const [first, second] = service.seen.map(({ headers }) => headers["idempotency-key"]);
    expect(first).not.toBe(second);
  });

  it("a live approval is told from a new one", async () => {
    const { api } = await setStage();
    expect((await api.mint(request)).reused).toBe(false);
    expect((await api.mint(request)).reused).toBe(true);
  });

  it("repeats after 503, and not after a refusal", async () => {
    const { service, api } = await setStage();
    service.plan("mint", { kind: "refuse", problem: { status: 503, code: "unavailable" } });
    await api.mint(request);
    expect(service.count("mint")).toBe(2);
    service.plan("mint", { kind: "refuse", problem: { status: 409, code: "recently_declined" } });
    await errorOf(api.mint(request));
    expect(service.count("mint")).toBe(3);
  });

  it("a problem becomes an error with its code, status, place, waiting time and members", async () => {
    const { service, api } = await setStage();
    const problem = {
      status: 429,
      code: "mint_rate",
      detail: "Too many.",
      errors: [{ pointer: "/caller", message: "" }],
      limit: 30,
    };
    service.plan("mint", { kind: "refuse", problem, retryAfter: 90 });
    const error = await errorOf(api.mint(request));
    expect(error).toMatchObject({ code: "mint_rate", status: 429, pointer: "/caller", retryAfterSeconds: 90 });
    expect(error.data["limit"]).toBe(30);
  });

  it("an answer of another form is unexpected_answer, never a value", async () => {
    const { service, api } = await setStage();
    const { id } = await api.mint(request);
    Object.assign(service.approvals.get(id) ?? {}, { status: "approved" });
    expect(await errorOf(api.status(id))).toMatchObject({ code: "unexpected_answer", pointer: "/status" });
  });

  it("a service that is down is unreachable; an aborted wait is aborted", async () => {
    const { service, api } = await setStage();
    const { id } = await api.mint(request);
    const stop = new AbortController();
    const parked = service.nextParked(id);
    const waiting = errorOf(api.wait(id, { seconds: 25, signal: stop.signal }));
    await parked;
    stop.abort();
    expect((await waiting).code).toBe("aborted");
    await service.close();
    expect(await errorOf(api.status(id))).toMatchObject({ code: "unreachable", status: 0 });
  });

  it("never follows a redirect, which would carry the key elsewhere", async () => {
    const { service } = await setStage();
    const http = createServer((_, res) => res.writeHead(307, { location: `${service.url}/api/v1/approvals` }).end());
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void http.close());
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    const api = createApiClient({ url, apiKey: service.apiKey });
    expect((await errorOf(api.status(newApprovalId()))).code).toBe("unreachable");
    expect(service.seen).toEqual([]);
  });

  it("I9: no error message holds the key, a token or an argument", async () => {
    const { service, api } = await setStage();
    const { id } = await api.mint(request);
    service.plan("mint", { kind: "refuse", problem: { status: 500, code: "internal" } });
    const { action } = request;
    const errors = await Promise.all([
      errorOf(api.mint(request)),
      errorOf(api.consume(id, { caller, action, consumerToken: token })),
      errorOf(createApiClient({ url: "http://127.0.0.1:9", apiKey: service.apiKey }).status(id)),
    ]);
    for (const error of errors) {
      const told = JSON.stringify([error.message, error.stack, error.detail, error.data]);
      for (const secret of [service.apiKey, token, "p_42"]) expect(told).not.toContain(secret);
    }
  });

  it.each([
    "http://countersign.example.com",
    "https://user:secret@countersign.example.com",
    "https://countersign.example.com/path",
    "https://countersign.example.com/?q",
    "ftp://localhost",
    "countersign",
  ])("refuses to be made for %s, without repeating it", (url) => {
    try {
      createApiClient({ url, apiKey: "csk_a_b" });
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(TypeError);
      expect((error as Error).message).not.toContain("secret");
    }
  });

  it("refuses a key of another form without repeating it", () => {
    expect(() => createApiClient({ url: "https://c.example.com", apiKey: "sk-secret" })).toThrow(
      "apiKey is not an API key of Countersign (csk_…)",
    );
  });
});
