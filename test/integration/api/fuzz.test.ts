import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createMachineApp } from "@/app/api/machine";
import { createTestService, type TestService } from "@/test/support/database";
import { type FuzzStage, fuzzStage } from "@/test/support/fuzz-stage";
import { createAnswerJudge } from "@/test/support/openapi-answer";
import { describeRequest, type FuzzRequest, type OpenApi, requestsOf } from "@/test/support/openapi-arbitrary";
import { createFingerprint } from "@/test/support/table-fingerprint";

const requestCount = 10_000;
/** Far above what any of them takes, however busy the machine is. */
const answerMaxMs = 10_000;
/** Waits are ended by their caller after so long. */
const patienceMs = 20;
/** To send the same requests again: the number that a failure names. */
const seed = Number(process.env["FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

let t: TestService;
let stage: FuzzStage;
const rejections: unknown[] = [];
const noteRejection = (reason: unknown) => rejections.push(reason);

beforeAll(async () => {
  t = await createTestService();
  stage = await fuzzStage(t);
  process.on("unhandledRejection", noteRejection);
});
afterAll(async () => {
  process.off("unhandledRejection", noteRejection);
  await t.stop();
});

it(`${requestCount} requests to every operation of the described API: never a 500, always an answer as described, and no row from a refused one`, {
  timeout: 300_000,
}, async () => {
  const app = createMachineApp(t.service);
  const document = (await (await app.request("/api/v1/openapi.json")).json()) as OpenApi;
  const judge = createAnswerJudge(document);
  const fingerprint = await createFingerprint(t.service);
  const seen = new Map<string, number>();
  let before = await fingerprint();

  const send = async (request: FuzzRequest): Promise<Response> => {
    const { method, path, headers, body } = request;
    const patience = new AbortController();
    const timers = [setTimeout(() => patience.abort(), patienceMs)];
    const late = new Promise<never>((_, reject) => {
      timers.push(setTimeout(() => reject(new Error(`no answer in ${answerMaxMs} ms`)), answerMaxMs));
    });
    const asked = new Request(`${t.service.config.url}/api/v1${path}`, {
      method,
      headers,
      signal: patience.signal,
      ...(body ? { body: new Uint8Array(body) } : {}),
    });
    return await Promise.race([app.fetch(asked), late]).finally(() => timers.forEach(clearTimeout));
  };

  await fc.assert(
    fc.asyncProperty(requestsOf(document, stage.senders, stage.known), async (request) => {
      const answer = await send(request);
      const after = await fingerprint();
      const fault =
        (await judge(request, answer)) ?? (rejections.length > 0 ? `unhandled: ${String(rejections[0])}` : undefined);
      const mayChange = answer.ok && request.method === "POST";
      const changed = mayChange || after === before ? undefined : `a row was written\n${before}\n→\n${after}`;
      before = after;
      const key = `${request.operation} ${answer.status}`;
      seen.set(key, (seen.get(key) ?? 0) + 1);
      if (fault ?? changed) throw new Error(`${describeRequest(request)}\n→ ${answer.status} ${fault ?? changed}`);
    }),
    { seed, numRuns: requestCount },
  );

  // What is only ever refused has not been looked at.
  for (const [path, methods] of Object.entries(document.paths))
    for (const method of Object.keys(methods)) {
      const counts = [...seen].filter(([key]) => key.startsWith(`${method} ${path} `));
      const count = (isOk: boolean) =>
        counts.filter(([key]) => key.includes(" 20") === isOk).reduce((sum, [, n]) => sum + n, 0);
      expect([method, path, count(true) >= 10, count(false) >= 100]).toEqual([method, path, true, true]);
    }
});
