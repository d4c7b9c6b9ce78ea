import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createSigner, type Decision, type FakeApproval, STATUS_OF } from "./fake-approvals";
import {
  type Answer,
  change,
  consume,
  type FakeState,
  type Json,
  mint,
  problem,
  reportOutcome,
  type Seen,
  statusOf,
  withdraw,
} from "./fake-state";

/** `drop` does the work and loses the answer; `refuse` answers a problem instead of doing it. */
export type Fault =
  | { kind: "drop" }
  | { kind: "refuse"; problem: Json & { status: number; code: string }; retryAfter?: number };

const API_KEY = "csk_fakefakefake_0123456789012345678901234567890123456789012";

type Fake = FakeState & {
  apiKey: string;
  seen: Seen[];
  faults: { route: string; fault: Fault }[];
  hooks: Map<string, () => Promise<void>>;
};

/**
 * A stand-in for Countersign that answers as contract section 6 says and signs with a real Ed25519 key. The person is played by
 * `decide`. It has a database's honesty and none of its durability.
 */
export async function startFakeService() {
  const bus = new EventEmitter().setMaxListeners(0);
  const signer = await createSigner("key-1");
  const http = createServer((req, res) => void serve(fake, req, res).catch(() => res.destroy()));
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const fake: Fake = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    clientId: "cli_crm",
    apiKey: API_KEY,
    signer,
    approvals: new Map(),
    bus,
    overrides: {},
    seen: [],
    faults: [],
    hooks: new Map(),
  };
  return {
    ...fake,
    ...controlsOf(fake),
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

export type FakeService = Awaited<ReturnType<typeof startFakeService>>;

function controlsOf(fake: Fake) {
  const held = (id: string): FakeApproval => {
    const approval = fake.approvals.get(id);
    if (approval === undefined) throw new Error(`no approval ${id}`);
    return approval;
  };
  return {
    /** Plans what goes wrong with the next request of a route; several are taken in order. */
    plan: (route: string, fault: Fault) => void fake.faults.push({ route, fault }),
    /** Happens before each request of a route is handled. */
    before: (route: string, hook: () => Promise<void>) => void fake.hooks.set(route, hook),
    count: (route: string) => fake.seen.filter((request) => request.route === route).length,
    nextMint: async () => String((await once(fake.bus, "minted"))[0]),
    nextParked: async (id: string) => void (await once(fake.bus, `parked ${id}`)),
    decide: async (id: string, decision: Decision, said: { note?: string; reason?: string } = {}) =>
      await change(fake, held(id), { ...said, decision, status: STATUS_OF[decision] }),
    end: async (id: string, status: "expired" | "withdrawn", reason?: string) =>
      await change(fake, held(id), { status, reason, decision: undefined }),
  };
}

async function serve(fake: Fake, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(req.url ?? "/", fake.url);
  const known = wellKnown(fake, pathname);
  if (known !== undefined) return send(res, known);
  const [, id, verb = "status"] = /^\/api\/v1\/approvals(?:\/([^/]+))?(?:\/(\w+))?$/.exec(pathname) ?? [];
  const route = req.method === "POST" && id === undefined ? "mint" : verb;
  const text = await textOf(req);
  const body = (text === "" ? {} : JSON.parse(text)) as Json;
  fake.seen.push({ route, body, headers: req.headers, ...(id === undefined ? {} : { id }) });
  await fake.hooks.get(route)?.();
  const index = fake.faults.findIndex((planned) => planned.route === route);
  const fault = index < 0 ? undefined : fake.faults.splice(index, 1)[0]?.fault;
  if (fault?.kind === "refuse") {
    const headers = fault.retryAfter === undefined ? {} : { "retry-after": String(fault.retryAfter) };
    return send(res, { status: fault.problem.status, body: fault.problem, headers });
  }
  if (req.headers.authorization !== `Bearer ${fake.apiKey}`) return send(res, problem(401, "unauthorized"));
  const waitSeconds = Number(searchParams.get("wait") ?? 0);
  const answer = route === "mint" ? mint(fake, body) : await answerFor(fake, { route, id, body, waitSeconds }, res);
  if (fault?.kind === "drop") return void res.destroy();
  send(res, answer);
}

type Asked = { route: string; id: string | undefined; body: Json; waitSeconds: number };

async function answerFor(fake: Fake, { route, id, body, waitSeconds }: Asked, res: ServerResponse): Promise<Answer> {
  const approval = fake.approvals.get(id ?? "");
  if (approval === undefined) return problem(404, "not_found");
  if (route === "consume") return consume(approval, body);
  if (route === "withdraw") return await withdraw(fake, approval, body);
  if (route === "outcome") return reportOutcome(approval, body);
  if (waitSeconds > 0 && approval.status === "pending") await park(fake.bus, approval.id, waitSeconds, res);
  return { status: 200, body: statusOf(approval) };
}

function wellKnown({ url, signer }: Fake, pathname: string): Answer | undefined {
  if (pathname === "/.well-known/jwks.json") return { status: 200, body: { keys: [signer.publicJwk] } };
  if (pathname === "/.well-known/countersign") return { status: 200, body: { issuer: url, apiVersion: "1" } };
  return undefined;
}

async function park(bus: EventEmitter, id: string, seconds: number, res: ServerResponse): Promise<void> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), seconds * 1000);
  res.once("close", () => over.abort());
  const changed = once(bus, `changed ${id}`, { signal: over.signal }).catch(() => undefined);
  bus.emit(`parked ${id}`);
  await changed;
  clearTimeout(timer);
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
