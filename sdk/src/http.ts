import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { CountersignError } from "./errors";

export type Fetch = (input: string, init: RequestInit) => Promise<Response>;

export type HttpCall = {
  method: "GET" | "POST";
  url: string;
  headers?: Readonly<Record<string, string>>;
  body?: unknown;
  timeoutMs: number;
  /** Tries in all; more than one only where a repeat cannot do a thing twice. */
  attempts: number;
  signal?: AbortSignal | undefined;
};

const RETRY_DELAYS_MS = [150, 600];
const RETRIED_STATUSES = new Set([502, 503, 504]);

const problemSchema = z.looseObject({
  code: z.string(),
  detail: z.string().optional(),
  errors: z.array(z.looseObject({ pointer: z.string() })).optional(),
});

/**
 * Sends one JSON request and gives the JSON of a 2xx answer, `undefined` for an empty one. Never follows a redirect, which would
 * carry the API key elsewhere. Repeats after a network fault or 502, 503, 504 as often as `attempts` allows.
 * @throws CountersignError with the problem's code, `unreachable`, `unexpected_answer` or `aborted`
 */
export async function sendJson(fetch: Fetch, call: HttpCall): Promise<{ status: number; json: unknown }> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await sendOnce(fetch, call);
    } catch (error) {
      if (attempt >= call.attempts || !isTransient(error)) throw error;
      await pause(RETRY_DELAYS_MS[attempt - 1] ?? 600, call.signal);
    }
  }
}

async function sendOnce(fetch: Fetch, call: HttpCall): Promise<{ status: number; json: unknown }> {
  const timeout = AbortSignal.timeout(call.timeoutMs);
  const signal = call.signal === undefined ? timeout : AbortSignal.any([timeout, call.signal]);
  let response: Response;
  let text: string;
  try {
    response = await fetch(call.url, {
      method: call.method,
      headers: { ...call.headers, ...(call.body === undefined ? {} : { "content-type": "application/json" }) },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      redirect: "error",
      signal,
    });
    text = await response.text();
  } catch {
    if (call.signal?.aborted) throw new CountersignError("aborted");
    throw new CountersignError("unreachable", { detail: timeout.aborted ? "no answer in time" : "no connection" });
  }
  const json = parseJson(text);
  if (!response.ok) throw problemFrom(response, json);
  return { status: response.status, json };
}

function problemFrom(response: Response, json: unknown): CountersignError {
  const problem = problemSchema.safeParse(json).data;
  const { status } = response;
  const retryAfterSeconds = secondsFrom(response.headers.get("retry-after"));
  const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  if (problem === undefined) return new CountersignError("unexpected_answer", { status, ...wait });
  const { code, detail, errors, ...data } = problem;
  const pointer = errors?.[0]?.pointer;
  return new CountersignError(code, {
    status,
    data,
    ...wait,
    ...(detail === undefined ? {} : { detail }),
    ...(pointer === undefined ? {} : { pointer }),
  });
}

/** `Retry-After` (RFC 9110 section 10.2.3) in seconds; both its forms. */
function secondsFrom(retryAfter: string | null): number | undefined {
  if (retryAfter === null) return undefined;
  const seconds = /^\d+$/.test(retryAfter)
    ? Number(retryAfter)
    : Math.ceil((Date.parse(retryAfter) - Date.now()) / 1000);
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}

function isTransient(error: unknown): boolean {
  return error instanceof CountersignError && (error.code === "unreachable" || RETRIED_STATUSES.has(error.status));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await delay(ms, undefined, signal === undefined ? {} : { signal });
  } catch {
    throw new CountersignError("aborted");
  }
}
