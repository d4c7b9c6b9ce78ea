import { randomUUID } from "node:crypto";
import { z } from "zod";
import {
  type ConsumeAnswer,
  type ConsumeRequest,
  consumeAnswerSchema,
  type MintAnswer,
  type MintRequest,
  mintAnswerSchema,
  type Outcome,
  type StatusAnswer,
  statusAnswerSchema,
  type WithdrawReason,
} from "./api-types";
import { CountersignError } from "./errors";
import { type Fetch, type HttpCall, sendJson } from "./http";
import { serviceOrigin } from "./service-url";

const CALL_TIMEOUT_MS = 10_000;
const OUTCOME_TIMEOUT_MS = 4_000;
const MAX_WAIT_SECONDS = 55;
/** Answers whose body tells nothing that is needed. */
const anyAnswer = z.unknown();

export type ApiClientOptions = {
  /** Where Countersign is: an https origin, or http on loopback. */
  url: string;
  /** `csk_…`, of this MCP server's client. */
  apiKey: string;
  fetch?: Fetch;
};

export type CallOptions = { signal?: AbortSignal };

/** The machine API of Countersign (contract section 6). Every method throws `CountersignError`. */
export type ApiClient = {
  /** Asks for a decision. `reused` tells a live approval from a new one. Repeats are safe: they carry one Idempotency-Key. */
  mint(
    request: MintRequest,
    options?: CallOptions & { idempotencyKey?: string },
  ): Promise<MintAnswer & { reused: boolean }>;
  /** Where the approval stands, at once. */
  status(id: string, options?: CallOptions): Promise<StatusAnswer>;
  /** Where the approval stands when it is decided or after `seconds` (0…55), whichever comes first. */
  wait(id: string, options: CallOptions & { seconds: number }): Promise<StatusAnswer>;
  /** Takes the right to run once. A retry after a lost answer carries the same `consumerToken`, so it cannot take a second one. */
  consume(id: string, request: ConsumeRequest): Promise<ConsumeAnswer>;
  /** Reports what happened; once. */
  reportOutcome(id: string, report: { consumerToken: string; outcome: Outcome; code?: string }): Promise<void>;
  /** Takes the request back, while it is pending or accepted and not consumed. */
  withdraw(id: string, request: { reason: WithdrawReason }): Promise<void>;
};

/**
 * Makes a client of the machine API. Secrets go into the `Authorization` header and nowhere else.
 * @throws TypeError for a URL that is neither https nor loopback, or a key of another form
 */
export function createApiClient({ url, apiKey, fetch = globalThis.fetch }: ApiClientOptions): ApiClient {
  const base = `${serviceOrigin(url)}/api/v1/approvals`;
  if (!/^csk_[\x21-\x7e]+$/.test(apiKey)) throw new TypeError("apiKey is not an API key of Countersign (csk_…)");
  const authorization = `Bearer ${apiKey}`;

  const send = async <T>(schema: z.ZodType<T>, call: ApiCall): Promise<{ status: number; answer: T }> => {
    const { path, headers, ...rest } = call;
    const sent: HttpCall = {
      timeoutMs: CALL_TIMEOUT_MS,
      ...rest,
      url: `${base}${path}`,
      headers: { ...headers, accept: "application/json", authorization },
    };
    const { status, json } = await sendJson(fetch, sent);
    const parsed = schema.safeParse(json);
    if (parsed.success) return { status, answer: parsed.data };
    const pointer = `/${parsed.error.issues[0]?.path.join("/") ?? ""}`;
    throw new CountersignError("unexpected_answer", { status, pointer });
  };
  return methodsOver(send);
}

type ApiCall = Omit<HttpCall, "url" | "timeoutMs"> & { path: string; timeoutMs?: number };
type Send = <T>(schema: z.ZodType<T>, call: ApiCall) => Promise<{ status: number; answer: T }>;

function methodsOver(send: Send): ApiClient {
  const wait: ApiClient["wait"] = async (id, { seconds, signal }) => {
    const waitSeconds = Math.min(MAX_WAIT_SECONDS, Math.max(0, Math.floor(seconds)));
    const path = `/${encodeURIComponent(id)}${waitSeconds === 0 ? "" : `?wait=${waitSeconds}`}`;
    const timeoutMs = waitSeconds * 1000 + CALL_TIMEOUT_MS;
    return (await send(statusAnswerSchema, { method: "GET", path, timeoutMs, attempts: 2, signal })).answer;
  };
  return {
    async mint(body, { idempotencyKey = randomUUID(), signal } = {}) {
      const headers = { "idempotency-key": idempotencyKey };
      const call: ApiCall = { method: "POST", path: "", headers, body, attempts: 3, signal };
      const { status, answer } = await send(mintAnswerSchema, call);
      return { ...answer, reused: status === 200 };
    },
    wait,
    status: (id, options = {}) => wait(id, { ...options, seconds: 0 }),
    async consume(id, body) {
      const path = `/${encodeURIComponent(id)}/consume`;
      return (await send(consumeAnswerSchema, { method: "POST", path, body, attempts: 3 })).answer;
    },
    async reportOutcome(id, body) {
      const path = `/${encodeURIComponent(id)}/outcome`;
      await send(anyAnswer, { method: "POST", path, body, attempts: 2, timeoutMs: OUTCOME_TIMEOUT_MS });
    },
    async withdraw(id, body) {
      await send(anyAnswer, { method: "POST", path: `/${encodeURIComponent(id)}/withdraw`, body, attempts: 2 });
    },
  };
}
