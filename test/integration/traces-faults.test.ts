import type { ServerResponse } from "node:http";
import pg from "pg";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createMachineApp } from "@/app/api/machine";
import type { Service } from "@/lib/process";
import { createTraces } from "@/lib/traces/traces";
import { addPerson, addTestClient, mintApproval, mintBody } from "@/test/support/actors";
import { attributesOf, startCollector } from "@/test/support/collector";
import { createTestService } from "@/test/support/database";

const unsampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
const silent = { warn: () => {} };

afterEach(() => vi.unstubAllEnvs());

describe("a refused or failed call", () => {
  it("is a span with its code; only a failure of ours is an error", async () => {
    const collector = await startCollector();
    const t = await createTestService({ traces: collector.settings });
    const client = await addTestClient(t.service);
    await client.api("GET", "/approvals/apr_nothing-of-ours-secret");
    const ended = new pg.Pool({ connectionString: t.databaseUrl });
    await ended.end();
    const broken: Service = { ...t.service, pool: ended };
    const url = `${t.service.config.url}/api/v1/approvals/apr_00000000000000000000000000`;
    const headers = { authorization: `Bearer ${client.apiKey}` };
    expect((await createMachineApp(broken).fetch(new Request(url, { headers }))).status).toBe(500);
    await t.stop();
    const [missing, failed] = collector.spans();
    expect(attributesOf(missing)).toEqual({
      "http.request.method": "GET",
      "http.route": "/api/v1/approvals/{id}",
      "http.response.status_code": 404,
      "countersign.problem.code": "not_found",
    });
    expect(missing?.status.code).toBe(0);
    expect(attributesOf(failed)).toMatchObject({
      "http.response.status_code": 500,
      "error.type": "internal",
      "countersign.approval.id": "apr_00000000000000000000000000",
    });
    expect(failed?.status.code).toBe(2);
    await collector.stop();
  });
});

describe("a trace", () => {
  it("that its caller does not keep is not kept here either, but led on", async () => {
    const collector = await startCollector();
    const t = await createTestService({ traces: collector.settings });
    const client = await addTestClient(t.service);
    await client.api("POST", "/approvals", mintBody(await addPerson(t.service)), { traceparent: unsampled });
    const { rows } = await t.service.pool.query<{ trace_context: string }>(`SELECT "trace_context" FROM "approval"`);
    expect(rows[0]?.trace_context).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-00$/);
    await t.stop();
    expect(collector.spans()).toEqual([]);
    await collector.stop();
  });

  it("is kept as often as OpenTelemetry's own variables say", async () => {
    vi.stubEnv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio");
    vi.stubEnv("OTEL_TRACES_SAMPLER_ARG", "0");
    const collector = await startCollector();
    const traces = createTraces(collector.settings, "1", silent);
    await traces.span("a", {}, async () => {});
    await traces.stop();
    expect(collector.spans()).toEqual([]);
    await collector.stop();
  });

  it("begins anew where what is stored is no context, and its spans do not mix with those of a call beside it", async () => {
    const collector = await startCollector();
    const traces = createTraces(collector.settings, "1", silent);
    await traces.span("around", { parent: "forged" }, async () => {
      const seen = await Promise.all(
        ["a", "b"].map((name) =>
          traces.span(name, {}, async () => {
            await new Promise(setImmediate);
            traces.note({ name });
            return [name, traces.current()?.slice(36, 52)];
          }),
        ),
      );
      expect(new Set(seen.map(([, spanId]) => spanId)).size).toBe(2);
    });
    expect(traces.current()).toBeNull();
    await traces.stop();
    const spans = collector.spans();
    const around = spans.find(({ name }) => name === "around");
    expect(around?.parentSpanId ?? "").toBe("");
    for (const name of ["a", "b"]) {
      const span = spans.find((each) => each.name === name);
      expect([span?.parentSpanId, attributesOf(span)]).toEqual([around?.spanId, { name }]);
    }
    await collector.stop();
  });
});

describe("a collector that takes calls and does not answer", () => {
  it("holds up no mint, and a stopping process for two seconds at most", async () => {
    const collector = await startCollector(() => {});
    const t = await createTestService({ traces: collector.settings });
    const client = await addTestClient(t.service);
    const ada = await addPerson(t.service);
    await mintApproval(client, ada);
    await expect.poll(() => collector.requests.length, { timeout: 5_000 }).toBe(1);
    expect((await mintApproval(client, ada)).status).toBe("pending");
    const startedAt = performance.now();
    await t.service.traces.stop();
    expect(performance.now() - startedAt).toBeLessThan(3_500);
    await t.stop();
    await collector.stop();
  });

  it("makes no queue grow beyond its bound: what does not fit is dropped", async () => {
    const held: ServerResponse[] = [];
    let isHolding = true;
    const collector = await startCollector((response) => {
      if (isHolding) held.push(response);
      else response.end("{}");
    });
    const traces = createTraces(collector.settings, "1", silent);
    for (let count = 0; count < 10_000; count += 1) await traces.span("filler", {}, async () => {});
    await expect.poll(() => held.length, { timeout: 5_000 }).toBe(1);
    isHolding = false;
    for (const response of held) response.end("{}");
    await traces.stop();
    // The queue, and the batch that was on its way.
    expect(collector.spans().length).toBeGreaterThan(256);
    expect(collector.spans().length).toBeLessThanOrEqual(2_048 + 256);
    await collector.stop();
  });
});
