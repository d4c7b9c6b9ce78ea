import { randomBytes } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type Caller,
  createSigner,
  type Decision,
  digestOf,
  type FakeApproval,
  instant,
  newApprovalId,
  nextOf,
  receiptClaims,
  STATUS_OF,
} from "./fake-approvals";

type Json = Record<string, unknown>;
type Answer = { status: number; body: Json; headers?: Record<string, string> };
export type Seen = { route: string; id?: string; body: Json; headers: IncomingMessage["headers"] };
/** `drop` does the work and loses the answer; `refuse` answers a problem instead of doing it. */
export type Fault =
  | { kind: "drop" }
  | { kind: "refuse"; problem: Json & { status: number; code: string }; retryAfter?: number };

/**
 * A stand-in for Countersign that answers as contract section 6 says and signs with a real Ed25519 key. The person is played by
 * `decide`. It has a database's honesty and none of its durability.
 */
export async function startFakeService() {
  const signer = await createSigner("key-1");
  const approvals = new Map<string, FakeApproval>();
  const seen: Seen[] = [];
  const faults: { route: string; fault: Fault }[] = [];
  const bus = new EventEmitter().setMaxListeners(0);
  const clientId = "cli_crm";
  const apiKey = "csk_fakefakefake_0123456789012345678901234567890123456789012";
  const http = createServer((req, res) => void serve(req, res).catch(() => res.destroy()));
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const overrides: { claims?: Json; header?: Json; actionDigest?: string } = {};

  /** State and receipt change together, as in one transaction (I8). */
  async function change(approval: FakeApproval, to: Partial<FakeApproval>): Promise<void> {
    const claims = { ...receiptClaims({ ...approval, ...to }, url, clientId), ...overrides.claims };
    const receipt = await signer.sign(claims, overrides.header);
    Object.assign(approval, to, { receipt });
    bus.emit(`changed ${approval.id}`);
  }

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(req.url ?? "/", url);
    if (pathname === "/.well-known/jwks.json") return send(res, { status: 200, body: { keys: [signer.publicJwk] } });
    if (pathname === "/.well-known/countersign")
      return send(res, { status: 200, body: { issuer: url, apiVersion: "1" } });
    const [, id, verb = "status"] = /^\/api\/v1\/approvals(?:\/([^/]+))?(?:\/(\w+))?$/.exec(pathname) ?? [];
    const route = req.method === "POST" && id === undefined ? "mint" : verb;
    const text = await textOf(req);
    const body = (text === "" ? {} : JSON.parse(text)) as Json;
    seen.push({ route, body, headers: req.headers, ...(id === undefined ? {} : { id }) });
    bus.emit(`seen ${route}`);
    const index = faults.findIndex((planned) => planned.route === route);
    const fault = index < 0 ? undefined : faults.splice(index, 1)[0]?.fault;
    if (fault?.kind === "refuse") {
      const headers = fault.retryAfter === undefined ? {} : { "retry-after": String(fault.retryAfter) };
      return send(res, { status: fault.problem.status, body: fault.problem, headers });
    }
    const answer = await handle(route, id, body, Number(searchParams.get("wait") ?? 0), req, res);
    if (fault?.kind === "drop") return void res.destroy();
    send(res, answer);
  }

  async function handle(
    route: string,
    id: string | undefined,
    body: Json,
    waitSeconds: number,
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<Answer> {
    if (req.headers.authorization !== `Bearer ${apiKey}`) return problem(401, "unauthorized");
    if (route === "mint") return mint(body);
    const approval = approvals.get(id ?? "");
    if (approval === undefined) return problem(404, "not_found");
    if (route === "status") {
      if (waitSeconds > 0 && approval.status === "pending") await parked(approval, waitSeconds, res);
      return { status: 200, body: statusOf(approval) };
    }
    if (route === "consume") return consume(approval, body);
    if (route === "withdraw") {
      if (nextOf(approval) !== "wait" && nextOf(approval) !== "run") return problem(409, "already_decided");
      await change(approval, { status: "withdrawn", decision: undefined, reason: String(body["reason"]) });
      return { status: 200, body: statusOf(approval) };
    }
    if (approval.consumerToken !== body["consumerToken"]) return problem(409, "consumer_mismatch");
    approval.outcome = String(body["outcome"]);
    return { status: 200, body: statusOf(approval) };
  }

  async function parked(approval: FakeApproval, seconds: number, res: ServerResponse): Promise<void> {
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(), seconds * 1000);
    res.once("close", () => over.abort());
    const changed = once(bus, `changed ${approval.id}`, { signal: over.signal }).catch(() => undefined);
    bus.emit(`parked ${approval.id}`);
    await changed;
    clearTimeout(timer);
  }

  function mint(body: Json): Answer {
    const action = body["action"] as FakeApproval["action"];
    const caller = body["caller"] as Caller;
    const presentation = body["presentation"] as Json;
    const shown = JSON.stringify([caller, action, presentation, body["preconditions"] ?? null]);
    const live = [...approvals.values()].find(
      (candidate) => candidate.shown === shown && (nextOf(candidate) === "wait" || nextOf(candidate) === "run"),
    );
    const approval = live ?? newApproval(caller, action, shown, body);
    approvals.set(approval.id, approval);
    bus.emit("minted", approval.id);
    return {
      status: live === undefined ? 201 : 200,
      body: {
        ...statusOf(approval),
        createdAt: instant(),
        expiresAt: approval.expiresAt,
        actionDigest: overrides.actionDigest ?? approval.actionDigest,
        salt: approval.salt,
        url: `${url}/a/${approval.id}`,
        matchCode: "47",
        effectiveRequirements: {},
        elicitation: { mode: "url", url: `${url}/a/${approval.id}`, message: `CRM asks: ${approval.title} (code 47)` },
        record: "not.a.record",
      },
    };
  }

  async function consume(approval: FakeApproval, body: Json): Promise<Answer> {
    const replayed = approval.consumerToken === body["consumerToken"];
    const { consumerToken, outcome = null } = approval;
    if (consumerToken !== undefined && !replayed) {
      return problem(409, "already_consumed", { consumedAt: instant(), outcome });
    }
    if (approval.status !== "accepted") return problem(409, "not_accepted");
    if (approval.lapsed) return problem(409, "lapsed");
    if (JSON.stringify(body["caller"]) !== JSON.stringify(approval.caller)) return problem(409, "caller_mismatch");
    const action = body["action"] as FakeApproval["action"];
    if (digestOf(action, approval.salt) !== approval.actionDigest) return problem(409, "action_mismatch");
    if (JSON.stringify(body["preconditions"] ?? null) !== approval.preconditions) return problem(409, "stale");
    approval.consumerToken = String(body["consumerToken"]);
    return { status: 200, body: { granted: true, replayed, receipt: approval.receipt } };
  }

  return {
    url,
    apiKey,
    clientId,
    signer,
    approvals,
    seen,
    overrides,
    /** Plans what goes wrong with the next request of a route; several are taken in order. */
    plan: (route: string, fault: Fault) => void faults.push({ route, fault }),
    count: (route: string) => seen.filter((request) => request.route === route).length,
    nextMint: async () => String((await once(bus, "minted"))[0]),
    nextParked: async (id: string) => void (await once(bus, `parked ${id}`)),
    nextSeen: async (route: string) => void (await once(bus, `seen ${route}`)),
    async decide(id: string, decision: Decision, said: { note?: string; reason?: string } = {}) {
      await change(held(id), { ...said, decision, status: STATUS_OF[decision] });
    },
    async end(id: string, status: "expired" | "withdrawn", reason?: string) {
      await change(held(id), { status, reason, decision: undefined });
    },
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };

  function held(id: string): FakeApproval {
    const approval = approvals.get(id);
    if (approval === undefined) throw new Error(`no approval ${id}`);
    return approval;
  }
}

export type FakeService = Awaited<ReturnType<typeof startFakeService>>;

function newApproval(caller: Caller, action: FakeApproval["action"], shown: string, body: Json): FakeApproval {
  const salt = randomBytes(16).toString("base64url");
  const { title } = body["presentation"] as { title: string | { en: string } };
  return {
    id: newApprovalId(),
    status: "pending",
    caller,
    action,
    salt,
    actionDigest: digestOf(action, salt),
    shown,
    preconditions: JSON.stringify(body["preconditions"] ?? null),
    title: typeof title === "string" ? title : title.en,
    lapsed: false,
    expiresAt: instant(300),
  };
}

function statusOf(approval: FakeApproval): Json {
  const { id, status, decision, note, receipt, outcome, caller, consumerToken } = approval;
  const body = {
    id,
    status,
    next: nextOf(approval),
    decision,
    note,
    receipt,
    outcome,
    caller,
    subject: { iss: caller.iss, sub: caller.sub },
    consumed: consumerToken !== undefined,
  };
  return JSON.parse(JSON.stringify(body)) as Json;
}

function problem(status: number, code: string, extras: Json = {}): Answer {
  return { status, body: { type: `urn:countersign:problem:${code}`, title: code, status, code, ...extras } };
}

function send(res: ServerResponse, { status, body, headers = {} }: Answer): void {
  const type = status < 400 ? "application/json" : "application/problem+json";
  res.writeHead(status, { "content-type": type, ...headers }).end(JSON.stringify(body));
}

async function textOf(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
