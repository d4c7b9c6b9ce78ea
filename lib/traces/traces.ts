import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { type Attributes, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { Logger } from "../log";
import { tellOfFailures } from "./tell-of-failures";
import { parseTraceparent, traceparentOf } from "./traceparent";

/** Where spans go (OTLP over HTTP, JSON). */
export type TraceSettings = { endpoint: string; headers: Record<string, string>; serviceName: string };

export type Traces = {
  /**
   * Runs `work` in a span. Its parent is `parent` (a `traceparent`), else the span that it is called in, else it begins a trace. What `work`
   * throws is thrown on; of it the span has the name of its class alone.
   */
  span<T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T>;
  /** Adds to the span that this is called in; `error.type` also marks it as failed. Does nothing where there is none. */
  note(attributes: Attributes): void;
  /** `traceparent` of the span that this is called in, or null. */
  current(): string | null;
  /** Sends what is left, for at most two seconds. */
  stop(): Promise<void>;
};

/** Attributes hold ids, codes and routes: never a value of an argument, a note, a token or a query. */
export type SpanOptions = { kind?: "server" | "client"; parent?: string | null; attributes?: Attributes };

const off: Traces = {
  span: (_name, _options, work) => work(),
  note: () => {},
  current: () => null,
  stop: async () => {},
};

/**
 * Traces of this process (W3C Trace Context, OpenTelemetry), or nothing at all where no collector is configured. Nothing is registered
 * globally: the page framework would begin to trace by itself. Spans wait in a bounded queue and are dropped where the collector is down, which
 * the log says.
 */
export function createTraces(settings: TraceSettings | undefined, version: string, log: Pick<Logger, "warn">): Traces {
  if (!settings) return off;
  const provider = createProvider(settings, version, log);
  const tracer = provider.getTracer("countersign", version);
  const active = new AsyncLocalStorage<Span>();

  async function span<T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T> {
    const within = active.getStore()?.spanContext();
    const parent = options.parent ? parseTraceparent(options.parent) : within;
    const started = tracer.startSpan(
      name,
      { kind: kinds[options.kind ?? "internal"], ...(options.attributes ? { attributes: options.attributes } : {}) },
      parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT,
    );
    try {
      return await active.run(started, work);
    } catch (error) {
      started.setStatus({ code: SpanStatusCode.ERROR });
      started.setAttribute("error.type", error instanceof Error ? error.name : "unknown");
      throw error;
    } finally {
      started.end();
    }
  }

  return {
    span,
    note: (attributes) => {
      const within = active.getStore();
      within?.setAttributes(attributes);
      if ("error.type" in attributes) within?.setStatus({ code: SpanStatusCode.ERROR });
    },
    current: () => {
      const store = active.getStore();
      return store ? traceparentOf(store.spanContext()) : null;
    },
    stop: async () => {
      const timeout = new Promise<void>((resolve) => setTimeout(resolve, stopTimeoutMs).unref());
      await Promise.race([provider.shutdown().catch(() => {}), timeout]);
    },
  };
}

function createProvider(settings: TraceSettings, version: string, log: Pick<Logger, "warn">): BasicTracerProvider {
  const exporter = new OTLPTraceExporter({
    url: `${settings.endpoint}/v1/traces`,
    headers: settings.headers,
    timeoutMillis: 5_000,
  });
  return new BasicTracerProvider({
    resource: resourceFromAttributes({
      "service.name": settings.serviceName,
      "service.version": version,
      "service.instance.id": randomUUID(),
    }),
    spanProcessors: [
      new BatchSpanProcessor(tellOfFailures(exporter, log), {
        maxQueueSize: 2_048,
        maxExportBatchSize: 256,
        scheduledDelayMillis: 2_000,
      }),
    ],
  });
}

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;
const stopTimeoutMs = 2_000;
