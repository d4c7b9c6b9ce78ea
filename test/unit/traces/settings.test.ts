import { describe, expect, it } from "vitest";
import { ConfigError, parseConfig } from "@/lib/config";

const endpoint = "http://localhost:4318";
const parse = (env: Record<string, string>) => parseConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...env }).traces;

function faultsOf(env: Record<string, string>): readonly string[] {
  try {
    parse(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

describe("OTEL_EXPORTER_OTLP_ENDPOINT", () => {
  it("unset means no traces, whatever else is set", () => {
    expect(parseConfig({ OTEL_EXPORTER_OTLP_HEADERS: "a=b", OTEL_SERVICE_NAME: "x" }).traces).toBeUndefined();
  });

  it("is a base URL: a path is kept, a slash at its end is not", () => {
    expect(parse({})).toEqual({ endpoint, headers: {}, serviceName: "countersign" });
    expect(parse({ OTEL_EXPORTER_OTLP_ENDPOINT: "https://otel.example.com/otlp//" })?.endpoint).toBe(
      "https://otel.example.com/otlp",
    );
  });

  it.each(["collector:4317", "grpc://collector:4317", "http://c/?key=s3cret", "http://c/#x", "no url"])(
    "refuses %s, and does not repeat it",
    (value) => {
      const faults = faultsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: value });
      expect(faults).toHaveLength(1);
      expect(faults[0]).toMatch(/^OTEL_EXPORTER_OTLP_ENDPOINT: must be a URL/);
      expect(faults[0]).not.toContain("s3cret");
    },
  );
});

describe("OTEL_EXPORTER_OTLP_HEADERS", () => {
  it("is read as W3C Baggage: spaces around, percent-encoding, values with an equals sign, any name of a header", () => {
    const headers = " api_key = abc== , Authorization=Basic%20dTpw,x-100%=100%, ,empty=";
    expect(parse({ OTEL_EXPORTER_OTLP_HEADERS: headers })?.headers).toEqual({
      api_key: "abc==",
      Authorization: "Basic dTpw",
      "x-100%": "100%",
      empty: "",
    });
  });

  it.each(["s3cret", "=s3cret", "a b=s3cret", "a=s3cret%0d%0aX-Other: 1", "a=s3cret%00", "a=s3cret\u00e9"])(
    "refuses %j at start, not at the first span, and does not repeat it",
    (value) => {
      const faults = faultsOf({ OTEL_EXPORTER_OTLP_HEADERS: value });
      expect(faults).toHaveLength(1);
      expect(faults[0]).toMatch(/^OTEL_EXPORTER_OTLP_HEADERS: must be name=value pairs/);
      expect(faults[0]).not.toContain("s3cret");
    },
  );

  it("makes nothing but headers, whatever their name", () => {
    const headers = parse({ OTEL_EXPORTER_OTLP_HEADERS: "__proto__=x,constructor=y" })?.headers ?? {};
    expect(Object.entries(headers)).toEqual([
      ["__proto__", "x"],
      ["constructor", "y"],
    ]);
  });
});
