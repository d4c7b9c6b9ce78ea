import type { SpanExporter } from "@opentelemetry/sdk-trace-base";
import type { Logger } from "../log";

const tellEveryMs = 60_000;

/** The same exporter; that spans could not be sent is logged, at most once a minute. Nothing else tells of it, for no request fails. */
export function tellOfFailures(
  exporter: SpanExporter,
  log: Pick<Logger, "warn">,
  now: () => number = () => performance.now(),
): SpanExporter {
  let toldAt = Number.NEGATIVE_INFINITY;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error && now() - toldAt >= tellEveryMs) {
          toldAt = now();
          log.warn(
            { reason: result.error.message, spans: spans.length },
            "spans could not be sent to the collector and are lost; told at most once a minute",
          );
        }
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}
