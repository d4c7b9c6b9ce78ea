import { z } from "zod";

/** `OTEL_EXPORTER_OTLP_ENDPOINT`: base URL of a collector, to which `/v1/traces` is added (OpenTelemetry, "OTLP Exporter Configuration"). */
export const tracesEndpoint = z
  .string()
  .refine(isBaseUrl, "must be a URL without query or fragment, such as http://localhost:4318")
  .transform((text) => text.replace(/\/+$/, ""));

function isBaseUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && !/[?#]/.test(text);
}

/** `OTEL_EXPORTER_OTLP_HEADERS`: `name=value` with commas between, values percent-encoded (W3C Baggage). */
export const tracesHeaders = z
  .string()
  .default("")
  .transform((text, context) => {
    const headers: [string, string][] = [];
    for (const pair of text
      .split(",")
      .map((part) => part.trim())
      .filter(Boolean)) {
      const [, name, encoded = ""] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=\s*(.*)$/.exec(pair) ?? [];
      const value = decode(encoded);
      if (name === undefined || value === undefined) {
        // What was set is a secret, so no part of it is told.
        context.addIssue({
          code: "custom",
          message: "must be name=value pairs with commas between, each value printable and percent-encoded",
        });
        return z.NEVER;
      }
      headers.push([name, value]);
    }
    return Object.fromEntries(headers);
  });

/** Undefined where it could not be sent as the value of a header (RFC 9110, section 5.5); what is no percent-encoding is taken as it is. */
function decode(encoded: string): string | undefined {
  let value = encoded;
  try {
    value = decodeURIComponent(encoded);
  } catch {}
  return /^[\x20-\x7e]*$/.test(value) ? value : undefined;
}
