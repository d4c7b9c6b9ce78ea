import type { SpanContext } from "@opentelemetry/api";

/**
 * The context that a `traceparent` names (W3C Trace Context, section 3.2), or undefined where it is malformed: then a new trace begins. Later
 * versions are read by what they have in common with version 00.
 */
export function parseTraceparent(header: string): SpanContext | undefined {
  const [, version = "", traceId = "", spanId = "", flags = "", rest = ""] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(header) ?? [];
  if (version === "" || version === "ff" || (version === "00" && rest !== "")) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

export function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-0${traceFlags & 1}`;
}
