import { z } from "zod";

/** `OTEL_EXPORTER_OTLP_ENDPOINT`: base URL of a collector (OpenTelemetry, "OTLP Exporter Configuration"). */
export const tracesEndpoint = z
  .string()
  .refine(
    (text) => /^https?:$/.test(URL.canParse(text) ? new URL(text).protocol : ""),
    "must be a URL such as http://localhost:4318",
  )
  .transform((text) => text.replace(/\/+$/, ""));

/** `OTEL_EXPORTER_OTLP_HEADERS`: `name=value` with commas between, values percent-encoded (W3C Baggage). */
export const tracesHeaders = z
  .string()
  .default("")
  .transform((text, context) => {
    const headers: Record<string, string> = {};
    for (const pair of text
      .split(",")
      .map((part) => part.trim())
      .filter(Boolean)) {
      const [, name, value] = /^([A-Za-z0-9-]+)=(.*)$/.exec(pair) ?? [];
      if (name === undefined || value === undefined) {
        // What was set is a secret, so no part of it is told.
        context.addIssue({ code: "custom", message: "must be name=value pairs with commas between" });
        return z.NEVER;
      }
      headers[name] = decode(value);
    }
    return headers;
  });

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
