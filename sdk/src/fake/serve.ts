import { once } from "node:events";
import {
  type Answer,
  consume,
  type FakeState,
  type Json,
  mint,
  problem,
  reportOutcome,
  statusOf,
  withdraw,
} from "./state";

/** `drop` does the work and loses the answer; `refuse` answers a problem instead of doing it. */
export type Fault =
  | { kind: "drop" }
  | { kind: "refuse"; problem: Json & { status: number; code: string }; retryAfter?: number };

export type Route = "mint" | "status" | "consume" | "outcome" | "withdraw";

/** Answers a request of the machine API and of the well-known documents; `undefined`: the answer is lost. */
export async function serveFake(fake: FakeState, request: Request): Promise<Response | undefined> {
  const { pathname, searchParams } = new URL(request.url);
  const known = wellKnown(fake, pathname);
  if (known !== undefined) return respond(known);
  const [, id, verb = "status"] = /^\/api\/v1\/approvals(?:\/([^/]+))?(?:\/(\w+))?$/.exec(pathname) ?? [];
  const route = (request.method === "POST" && id === undefined ? "mint" : verb) as Route;
  const text = await request.text();
  const body = (text === "" ? {} : JSON.parse(text)) as Json;
  const headers = Object.fromEntries(request.headers);
  fake.seen.push({ route, body, headers, ...(id === undefined ? {} : { id }) });
  await fake.hooks.get(route)?.();
  const index = fake.faults.findIndex((planned) => planned.route === route);
  const fault = index < 0 ? undefined : fake.faults.splice(index, 1)[0]?.fault;
  if (fault?.kind === "refuse") return respond(refusal(fault));
  if (headers["authorization"] !== `Bearer ${fake.apiKey}`) return respond(problem(401, "unauthorized"));
  const waitSeconds = Number(searchParams.get("wait") ?? 0);
  const asked = { route, id, body, waitSeconds, signal: request.signal };
  const answer = route === "mint" ? await mint(fake, body) : await answerFor(fake, asked);
  return fault?.kind === "drop" ? undefined : respond(answer);
}

type Asked = { route: Route; id: string | undefined; body: Json; waitSeconds: number; signal: AbortSignal };

async function answerFor(fake: FakeState, { route, id, body, waitSeconds, signal }: Asked): Promise<Answer> {
  const approval = fake.approvals.get(id ?? "");
  if (approval === undefined) return problem(404, "not_found");
  if (route === "consume") return consume(approval, body);
  if (route === "withdraw") return await withdraw(fake, approval, body);
  if (route === "outcome") return reportOutcome(approval, body);
  if (waitSeconds > 0 && approval.status === "pending") await park(fake, approval.id, waitSeconds, signal);
  return { status: 200, body: statusOf(approval) };
}

function wellKnown({ url, signer }: FakeState, pathname: string): Answer | undefined {
  if (pathname === "/.well-known/jwks.json") return { status: 200, body: { keys: [signer.publicJwk] } };
  if (pathname === "/.well-known/countersign") return { status: 200, body: { issuer: url, apiVersion: "1" } };
  return undefined;
}

async function park({ bus }: FakeState, id: string, seconds: number, gone: AbortSignal): Promise<void> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), seconds * 1000);
  const signal = AbortSignal.any([gone, over.signal]);
  const changed = once(bus, `changed ${id}`, { signal }).catch(() => undefined);
  bus.emit(`parked ${id}`);
  await changed;
  clearTimeout(timer);
}

function refusal({ problem: body, retryAfter }: Fault & { kind: "refuse" }): Answer {
  const headers = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
  return { status: body.status, body, headers };
}

function respond({ status, body, headers = {} }: Answer): Response {
  const type = status < 400 ? "application/json" : "application/problem+json";
  return new Response(JSON.stringify(body), { status, headers: { "content-type": type, ...headers } });
}
